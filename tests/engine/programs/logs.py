"""What a backward tells PyTorch's logger of it, and what is kept where it is kept."""

import logging


class Lines(logging.Handler):
    def emit(self, record):
        print(record.name, record.levelname, record.getMessage().split(" object")[0], record.getMessage().partition("with ")[2])


lines = Lines()
logger = logging.getLogger("torch.autograd.graph")
logger.propagate = False
logger.addHandler(lines)
x = torch.ones(2, 3, requires_grad=True)
w = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)


def loss():
    values, places = (x.sin() * 2).max(1)
    return values.sum() + (w @ w.T).cos().sum()


loss().backward()
torch._logging.set_logs(autograd=logging.DEBUG)
loss().backward()
print(torch.autograd.grad(loss(), x, create_graph=True)[0])
torch._logging.set_logs()
loss().backward()
torch._logging.set_logs(all=logging.DEBUG)
x.sin().sum().backward()
torch._logging.set_logs()
attempt(lambda: torch._logging.set_logs(autograd=3))
attempt(lambda: torch._logging.set_logs(all="x"))
logger.setLevel(logging.DEBUG)
h = x.exp()
h.grad_fn.register_prehook(lambda grads: print("prehook"))
h.register_hook(lambda grad: print("tensor hook"))
(h * 2).view(6).sum().backward()
logger.setLevel(logging.NOTSET)
logger.removeHandler(lines)
for dtype in torch.float32, torch.bool, torch.int16, torch.complex128, torch.bfloat16, torch.uint8, torch.float8_e4m3fn:
    print(dtype.abbr)


def pack(tensor):
    return tensor


def unpack(tensor):
    return tensor


leaf = torch.tensor(2.0, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    square = leaf**2
grown = square.exp()
after = grown**2
packed, result, plain = square.grad_fn._raw_saved_self, grown.grad_fn._raw_saved_result, after.grad_fn._raw_saved_self
print(packed.data is leaf, packed.unpack_hook is unpack)
print(result.data is grown, result.unpack_hook)
print(plain.data is grown, plain.unpack_hook)
