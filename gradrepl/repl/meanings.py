"""One sentence for each op that people ask about, and sample calls to show it with. Text only; imports nothing."""

import inspect
from collections.abc import Iterator
from typing import Any

MEANINGS = """
abs: the absolute value of each element
acos: the angle whose cosine each element is
add: the sum, element by element; alpha scales the second term
addmm: input plus the matrix product of the two others
all: whether every element is true
amax: the largest value; a tie shares its gradient equally
amin: the smallest value; a tie shares its gradient equally
any: whether some element is true
arange: numbers from start to end, without end, a step apart
argmax: where the largest value stands
argmin: where the smallest value stands
argsolve: the x for which A x = B
sort: the places that would put the values in order
as_strided: a view with sizes and strides of one's own
asin: the angle whose sine each element is
atan: the angle whose tangent each element is
atan2: the angle of the point (other, input), in the right quadrant
autograd.grad: gradients of outputs with respect to inputs, returned and not accumulated
backward: send gradients back from here and add them to the .grad of the leaves
batch_norm: each channel shifted and scaled to mean 0 and variance 1 over the batch
bernoulli: 0 or 1, drawn with each element as the probability of 1
bmm: matrix products, one for each entry of the batch
cat: tensors put one after the other along a dimension that exists
ceil: each element rounded up
chunk: the tensor in pieces along a dimension
clamp: each element held between min and max; outside, the gradient is 0
cholesky: the lower triangle whose product with its transpose gives the matrix
clone: a copy in memory of its own that stays in the graph
conv1d: a sliding product of signals with kernels
conv2d: a sliding product of images with kernels
cos: the cosine of each element
cosh: the hyperbolic cosine of each element
cross_entropy: the negative log of the probability that softmax gives the right class, averaged
cumprod: the product of all elements up to each
cumsum: the sum of all elements up to each
det: the determinant
detach: the same memory outside the graph: no gradient flows through it
diag: the diagonal of a matrix, or the matrix of a diagonal
div: the quotient, element by element
dot: the sum of the products of two vectors
dropout: elements set to zero at random in training, the rest scaled up
eigh: eigenvalues and eigenvectors of a symmetric matrix
eigvalsh: eigenvalues of a symmetric matrix
einsum: a sum of products written as indices
elu: the element itself where positive, alpha * (exp(x) - 1) elsewhere
embedding: rows of a table, picked by index
empty: a tensor whose elements are whatever memory held
eq: whether the elements are equal
erf: the error function of each element
exp: e to the power of each element
expand: a view that repeats dimensions of size 1 without copying
eye: the identity matrix
fft: the discrete Fourier transform
flatten: neighbouring dimensions made one
flip: the order along the dimensions turned round
floor: each element rounded down
full: a tensor filled with one value
gather: elements picked along a dimension by an index tensor
ge: whether each element is at least the other
gelu: the element times the normal probability of being below it
gt: whether each element is greater than the other
hardtanh: each element held between two bounds
index_select: whole slices picked along a dimension
ifft: the inverse of the discrete Fourier transform
interpolate: an
inv: the inverse of a matrix image scaled up or down
is_grad_enabled: whether operations are being recorded in the graph
isnan: whether each element is not a number
kl_div: how far one distribution is from another
kthvalue: the k-th smallest value and where it stands
layer_norm: the last dimensions shifted and scaled to mean 0 and variance 1
le: whether each element is at most the other
leaky_relu: the element where positive, a small multiple of it elsewhere
lerp: the point between input and end, weight of the way
linear: x times the transposed weight, plus bias
linspace: evenly spaced numbers from start to end, both included
log: the natural logarithm of each element
log10: the logarithm to base 10 of each element
log1p: the logarithm of 1 + x, exact for small x
log2: the logarithm to base 2 of each element
log_softmax: the logarithm of softmax, computed without overflow
logsumexp: the logarithm of the sum of exponentials, computed without overflow
lt: whether each element is less than the other
manual_seed: start the random numbers again from a seed
masked_fill: elements where the mask is true replaced by a value
masked_select: the elements where the mask is true, in one dimension
matmul: the matrix product; of vectors the dot product, of stacks one product each
max: the largest value; along a dimension also where it stands
max_pool2d: the largest value in each window
maximum: the larger of two elements
mean: the average
median: the middle value, the lower one of two
min: the smallest value; along a dimension also where it stands
minimum: the smaller of two elements
mm: the product of two matrices
mse_loss: the mean of the squared differences
mul: the product, element by element
multinomial: places drawn with given probabilities
mv: the product of a matrix and a vector
narrow: a view of a part along one dimension
ne: whether the elements differ
neg: each element with the other sign
nll_loss: the negative of the log-probability of the right class, averaged
no_grad: record nothing in the graph inside this block
norm: the length of a vector: the p-th root of the sum of p-th powers
normal: numbers drawn from normal distributions
ones: a tensor of ones
outer: all products of an element of one vector with one of the other
permute: a view with the dimensions in another order
pow: each element to the power of the exponent
prod: the product of the elements
qr: an orthogonal matrix times an upper triangle
rand: numbers drawn evenly from 0 to 1
randint: whole numbers drawn evenly from a range
randn: numbers drawn from the standard normal distribution
randperm: the numbers from 0 to n - 1 in random order
reciprocal: 1 divided by each element
relu: the element where positive, else 0
repeat_interleave: each element repeated in place
requires_grad_: ask that gradients be kept for this tensor
reshape: the same elements in another shape, a view where that is possible
retain_grad: keep the gradient of this tensor although it is no leaf
roll: elements moved round along a dimension
round: each element rounded to the nearest whole number, halves to even
rsqrt: 1 divided by the square root of each element
scatter: values written to places given by an index tensor
scatter_add: values added at places given by an index tensor
select: a view of one index of a dimension
selu: elu scaled so that layers keep their variance
sigmoid: 1 / (1 + exp(-x)) of each element
sign: -1, 0 or 1 by the sign of each element
silu: the element times its sigmoid
sin: the sine of each element
sinh: the hyperbolic sine of each element
slogdet: sign and logarithm of the determinant
softmax: exponentials divided by their sum, so that they add up to 1
softplus: log(1 + exp(x)), a smooth relu
solve: the x for which A x = B
sort: the values in order, and where they stood
split: the tensor in pieces of a size
sqrt: the square root of each element
square: each element times itself
squeeze: a view without dimensions of size 1
stack: tensors of one shape put side by side along a new dimension
std: the standard deviation
sub: the difference, element by element; alpha scales the second term
sum: the sum of the elements
svd: rotations and singular values of a matrix
t: the matrix with rows and columns exchanged, a view
take: elements picked by their place in the flattened tensor
tan: the tangent of each element
tanh: the hyperbolic tangent of each element
tensor: a new leaf with these values
topk: the k largest values and where they stand
trace: the sum of the diagonal
transpose: a view with two dimensions exchanged
tril: the lower triangle of a matrix, the rest zero
triu: the upper triangle of a matrix, the rest zero
unbind: views of each index of a dimension
unfold: views of sliding windows along a dimension
unsqueeze: a view with a new dimension of size 1
var: the variance
view: the same memory in another shape
where: elements of one tensor where the condition is true, of the other elsewhere
zeros: a tensor of zeros
zeros_like: zeros in the shape of another tensor
ones_like: ones in the shape of another tensor
"""
VECTOR = "torch.tensor([0.5, 2.0])"
MATRIX = "torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])"
ROW = "torch.tensor([[0.5, 2.0]])"
SQUARE = "torch.tensor([[2.0, 1.0], [1.0, 3.0]])"
IMAGE = "torch.ones(1, 1, 3, 3)"
# a parameter that is no tensor -> a value to show it with
VALUES = {
    "dim": "0", "dims": "(1, 0)", "exponent": "2", "size": "(2, 3)", "shape": "(-1,)", "min": "0.0", "k": "1", "n": "3", "p": "2",
    "dim0": "0", "dim1": "1", "split_size_or_sections": "1", "chunks": "2", "repeats": "2", "shifts": "1", "start": "0", "end": "3",
    "value": "0.0", "weight": "0.5", "steps": "5", "kernel_size": "2", "fill_value": "7.0", "index": "0", "length": "1",
}  # fmt: skip
# op -> the call, where the parameters alone do not tell it
CALLS = {
    "arange": "torch.arange(5)",
    "backward": "(x ** 2).sum().backward()",
    "cat": "torch.cat([x, x])",
    "clamp": "x.clamp(max=1.0)",
    "cross_entropy": "F.cross_entropy(x, torch.tensor([1]))",
    "detach": "x.detach()",
    "einsum": "torch.einsum('i,i->', x, x)",
    "embedding": "F.embedding(torch.tensor([1]), torch.ones(3, 2))",
    "empty": "torch.empty(2, 3).shape",
    "expand": "x.expand(2, 2)",
    "eye": "torch.eye(2)",
    "full": "torch.full((2,), 7.0)",
    "gather": "x.gather(0, torch.tensor([1, 0]))",
    "index_select": "x.index_select(0, torch.tensor([1]))",
    "linear": "F.linear(x, torch.ones(1, 2))",
    "manual_seed": "torch.manual_seed(0).initial_seed()",
    "masked_fill": "x.masked_fill(x > 1, 0.0)",
    "masked_select": "x.masked_select(x > 1)",
    "nll_loss": "F.nll_loss(x, torch.tensor([1]))",
    "ones": "torch.ones(2, 3)",
    "permute": "torch.ones(2, 3).permute(1, 0).shape",
    "rand": "torch.rand(2)",
    "randint": "torch.randint(10, (3,))",
    "randn": "torch.randn(2)",
    "randperm": "torch.randperm(4)",
    "requires_grad_": "torch.ones(2).requires_grad_()",
    "reshape": "x.reshape(2, 1)",
    "retain_grad": "(x * 2).retain_grad()",
    "scatter_add": "x.scatter_add(0, torch.tensor([0, 0]), torch.ones(2))",
    "stack": "torch.stack([x, x])",
    "tensor": "torch.tensor([1.0, 2.0], requires_grad=True)",
    "view": "x.view(2, 1)",
    "where": "torch.where(x > 1, x, 0.0)",
    "zeros": "torch.zeros(2, 3)",
}
SAMPLES = {"cross_entropy": ROW, "nll_loss": ROW}  # where the call needs an x of another shape


def meaning(name: str) -> str:
    """The sentence for an op, also for its variant that writes in place."""
    known = dict(line.split(": ", 1) for line in MEANINGS.strip().split("\n"))
    text = known.get(name) or known.get(name.rstrip("_"), "")
    return text and (text if name in known or not name.endswith("_") else f"{text}; written over the tensor itself")


def examples(expression: str, value: Any, name: str) -> Iterator[list[str]]:
    """Programs that may show the function: its own call if there is one, then calls made from its parameters."""
    if name in CALLS:
        yield ([f"x = {wanting_gradient(SAMPLES.get(name, VECTOR))}"] if "x" in CALLS[name].replace(name, "") else []) + [CALLS[name]]
    if isinstance(value, type):
        return
    required = required_parameters(value, name)
    for sample in (VECTOR, MATRIX, SQUARE, IMAGE):
        others = [VALUES.get(parameter, "x") for parameter in required[1:]]
        sample = sample if name.endswith("_") else wanting_gradient(sample)
        yield [f"x = {sample}", call(expression, ["x", *others])]
        yield [f"x = {sample}", call(expression, ["x", *others, "0"])]


def wanting_gradient(sample: str) -> str:
    return f"{sample[:-1]}, requires_grad=True)"


def call(expression: str, arguments: list[str]) -> str:
    """A method is called on its first argument."""
    owner, _, name = expression.rpartition(".")
    function = expression if owner in ("torch", "F") or owner.startswith(("torch.", "nn.")) and not owner.endswith("Tensor") else ""
    return f"{function}({', '.join(arguments)})" if function else f"{arguments[0]}.{name}({', '.join(arguments[1:])})"


def required_parameters(value: Any, name: str) -> list[str]:
    from gradrepl.repl.lookup import signature

    found = signature(value, name)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in found.parameters.values() if p.default is p.empty and p.kind in kinds] if found else ["input"]
