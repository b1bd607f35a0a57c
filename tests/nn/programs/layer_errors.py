import torch
import torch.nn.functional as F

x = torch.ones(1, 2, 6, 6)
w = torch.ones(3, 2, 2, 2)
for e in """F.conv2d(x[:,:1],w)|F.conv2d(x[0,0],w)|F.conv2d(x[0],w).shape|F.conv2d(x,torch.ones(3,2,7,7))|F.conv2d(x,w,torch.ones(2))|F.conv2d(x.double(),w)|F.conv2d(x.long(),w.long())|F.conv2d(x.long(),w)|F.conv2d(x,w,torch.ones(3).double())|F.conv2d(x,w,padding=-1)|F.conv2d(x,w,stride=0)|F.conv2d(x,w,dilation=0)|F.conv2d(x,w,groups=2)|F.conv2d(x,w,stride=(1,2,3))|F.conv2d(x,w,padding='same',stride=2)|F.conv2d(x,w,padding='foo')|F.conv1d(x,w)|F.conv2d(x,w[0])|F.conv_transpose2d(x,w)|F.conv_transpose2d(x,torch.ones(2,3,2,2),output_padding=1)|F.conv_transpose2d(x,torch.ones(2,3,2,2),torch.ones(2))|F.conv2d(x,w,groups=0)|F.conv2d(torch.ones(0,2,6,6),w).shape|F.conv3d(x,w)|F.conv2d([1],w)|F.conv2d(x)|F.conv2d(x,torch.ones(4,1,2,2),groups=2).shape|F.conv2d(x,torch.ones(3,1,2,2),groups=2).shape|F.conv2d(x,w,padding=(1,)).shape|F.max_pool2d(x,0)|F.max_pool2d(x,7)|F.max_pool2d(x,2,padding=2)|F.max_pool2d(x[0,0],2)|F.max_pool2d(x.long(),2).shape|F.max_pool1d(x,2).shape|F.max_pool1d(x[0,0],2).shape|F.max_pool1d(x[0],7)|F.avg_pool2d(x,7)|F.avg_pool2d(x.long(),2)|F.avg_pool2d(x,2,padding=2)|F.avg_pool1d(x,2)|F.avg_pool1d(x[0],2).shape|F.avg_pool2d(x[0,0],2)|F.avg_pool2d(x,2,divisor_override=0)|F.avg_pool3d(x,2).shape|F.max_pool3d(x,2).shape|F.max_pool3d(x[0],2).shape|F.adaptive_avg_pool2d(x[0,0],2)|F.adaptive_max_pool2d(x[0,0],2)|F.adaptive_avg_pool2d(x,(2,None)).shape|F.adaptive_avg_pool1d(x,2)|F.adaptive_avg_pool2d(x,(1,2,3))|F.max_unpool2d(x,torch.zeros(1,2,6,6,dtype=torch.long)*100,2).shape|F.max_unpool2d(x,torch.zeros(1,2,6,6)*100,2).shape|F.unfold(x[0,0],2)|F.fold(x,(2,2),2)|F.fold(torch.ones(1,8,10),(6,6),2)|F.batch_norm(x,torch.zeros(3),torch.ones(2))|F.batch_norm(x,torch.zeros(2),torch.ones(2),torch.ones(3))|F.batch_norm(torch.ones(1,2),None,None,training=True)|F.batch_norm(x,None,None)|F.layer_norm(x,(5,))|F.layer_norm(x,(6,),torch.ones(5))|F.layer_norm(x,())|F.group_norm(x,3)|F.group_norm(x,2,torch.ones(3))|F.instance_norm(torch.ones(1,2,1))|F.embedding(torch.tensor([7]),w[0,0])|F.embedding(torch.tensor([1.]),w[0,0])|F.embedding(torch.tensor([1]),w[0,0,0])|F.embedding(torch.tensor([1]),w)|F.embedding(torch.tensor([-1]),w[0,0])|F.embedding(torch.tensor([1],dtype=torch.int32),w[0,0])|F.rms_norm(x,(5,))|F.pixel_shuffle(x,2)|F.pixel_unshuffle(x,4)|F.channel_shuffle(x,3)|F.scaled_dot_product_attention(x,x[0,0],x[:,:1])|F.scaled_dot_product_attention(x[0,0,0],x[0,0,0],x[0,0,0])|F.linear(x,w[0,0])|F.linear(x,torch.ones(3,6),torch.ones(2))|F.bilinear(x,x,w)|F.interpolate(x,scale_factor=(1,2,3))|F.interpolate(x,size=(0,1))|F.grid_sample(x,x)|F.one_hot(torch.tensor([1.]))|F.one_hot(torch.tensor([3]),2)|F.one_hot(torch.tensor([-1]))|F.cosine_similarity(x,x[0,0,:,:2])|F.pdist(x)|F.dropout(x,2)|F.glu(x[...,:3])|F.local_response_norm(x[0,0],2)""".split(
    "|"
):
    try:
        print(e, "->", eval(e))
    except Exception as ex:
        print(e, "!!", type(ex).__name__, str(ex).split("\nException raised")[0])
for compare in (
    lambda: torch.testing.assert_close(torch.tensor(1.0), torch.tensor(1.1)),
    lambda: torch.testing.assert_close(torch.tensor(3), torch.tensor(7)),
    lambda: torch.testing.make_tensor(2, dtype=torch.float32, device="cpu", low=2, high=1),
    lambda: torch.testing.make_tensor(2, dtype=torch.int64, device="cpu", requires_grad=True),
):
    try:
        print(compare())
    except (AssertionError, ValueError) as e:
        print(e)
