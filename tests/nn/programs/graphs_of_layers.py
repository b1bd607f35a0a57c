import torch
from torch import nn
import torch.nn.functional as F


def walk(t, depth=60):
    seen, todo, out = [], [t.grad_fn], []
    while todo and len(out) < depth:
        n = todo.pop(0)
        if n is None or n in seen:
            continue
        seen.append(n)
        out.append(n.name().replace("torch::autograd::", ""))
        todo += [f for f, _ in n.next_functions]
    return out


x = torch.randn(1, 2, 6, 6, requires_grad=True)
x1 = torch.randn(1, 2, 6, requires_grad=True)
x3 = torch.randn(1, 2, 4, 4, 4, requires_grad=True)
for e in """F.conv2d(x,torch.ones(3,2,2,2))|F.conv2d(x[0],torch.ones(3,2,2,2))|F.conv1d(x1,torch.ones(3,2,2))|F.conv2d(x,torch.ones(3,2,3,3),padding='same')|F.conv2d(x,torch.ones(3,2,2,2),padding='same')|F.conv3d(x3,torch.ones(3,2,2,2,2))|F.conv_transpose2d(x,torch.ones(2,3,2,2))|F.max_pool2d(x,2)|F.max_pool2d(x[0],2)|F.max_pool1d(x1,2)|F.max_pool1d(x1,2,return_indices=True)[0]|F.max_pool3d(x3,2)|F.avg_pool1d(x1,2)|F.avg_pool2d(x,2)|F.avg_pool3d(x3,2)|F.adaptive_avg_pool1d(x1,2)|F.adaptive_avg_pool2d(x,2)|F.adaptive_avg_pool2d(x,1)|F.adaptive_avg_pool3d(x3,2)|F.adaptive_avg_pool3d(x3,1)|F.adaptive_max_pool1d(x1,2)|F.adaptive_max_pool2d(x,2)|F.adaptive_max_pool3d(x3,2)|F.max_unpool2d(*F.max_pool2d(x,2,return_indices=True),2)|F.max_unpool1d(*F.max_pool1d(x1,2,return_indices=True),2)|F.lp_pool2d(x,2,2)|F.lp_pool1d(x1,2,2)|F.fractional_max_pool2d(x,2,output_size=3)|F.batch_norm(x,None,None,training=True)|F.batch_norm(x,torch.zeros(2),torch.ones(2))|F.batch_norm(x1,None,None,training=True)|F.batch_norm(x3,None,None,training=True)|F.batch_norm(x[:,:,0,0],torch.ones(2),torch.ones(2))|F.layer_norm(x,(6,))|F.group_norm(x,2)|F.instance_norm(x)|F.rms_norm(x,(6,))|F.local_response_norm(x,2)|F.local_response_norm(x1,2)|F.dropout(x)|F.dropout(x,training=False)|F.dropout(x,1.0)|F.dropout(x,0.0)|F.dropout2d(x)|F.dropout1d(x1)|F.alpha_dropout(x,training=True)|F.feature_alpha_dropout(x,training=True)|F.embedding(torch.tensor([1]),x[0,0])|F.embedding_bag(torch.tensor([[1]]),x[0,0])|F.embedding_bag(torch.tensor([[1]]),x[0,0],mode='max')|F.interpolate(x,scale_factor=2)|F.interpolate(x1,scale_factor=2)|F.interpolate(x,scale_factor=2,mode='bilinear')|F.interpolate(x,scale_factor=2,mode='bicubic')|F.interpolate(x,scale_factor=.5,mode='area')|F.interpolate(x1,scale_factor=2,mode='linear')|F.interpolate(x3,scale_factor=2,mode='trilinear')|F.interpolate(x,scale_factor=2,mode='nearest-exact')|F.interpolate(x,scale_factor=.5,mode='bilinear',antialias=True)|F.pixel_shuffle(x.reshape(1,8,3,3),2)|F.pixel_unshuffle(x,2)|F.channel_shuffle(x,2)|F.unfold(x,2)|F.fold(F.unfold(x,2),(6,6),2)|F.grid_sample(x,torch.zeros(1,2,2,2),align_corners=False)|F.affine_grid(torch.ones(1,2,3,requires_grad=True),(1,1,2,2),align_corners=False)|F.cosine_similarity(x,x+1)|F.pairwise_distance(x,x+1)|F.pdist(x[0,0])|F.normalize(x)|F.bilinear(x,x,torch.ones(2,6,6))|F.gumbel_softmax(x)|F.gumbel_softmax(x,hard=True)|F.unfold(x[0],2)|nn.LayerNorm(6)(x)|F.rms_norm(x,(6,),torch.ones(6,requires_grad=True))|F.conv_tbc(x1,torch.ones(2,6,3),torch.zeros(3))|torch.channel_shuffle(x,2)|F.feature_alpha_dropout(x1,training=True)|F.dropout(x[0,0,0],inplace=False)|F.pad(x,(1,1),mode='circular')|F.pad(x,(1,1,1,1),mode='reflect')|F.pad(x,(1,1))|F.one_hot(torch.tensor([1]))|F.glu(x)|F.rrelu(x,training=True)|F.rrelu(x)""".split(
    "|"
):
    try:
        y = eval(e)
        print(e, y.dtype, tuple(y.shape), walk(y, 20))
    except Exception as ex:
        print(e, "ERR", ex)
