"""PyTorch's random stream on the CPU: the generator, and every draw from it. Imports the engine's factories.

The generator is the Mersenne Twister; which draw takes how many of its 32-bit words, and what becomes of them, is what makes the numbers
PyTorch's. Functions on arrays come first, what users see of them below.
"""

import math
import os

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dtypes import CPU, Default, device, scalar_name
from gradrepl.engine.factories import blank_like, fresh, like, made_by, shape_from, sizes_of
from gradrepl.engine.modes import here
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Batched, Tensor, tensor_of

WORDS = 624
LOW_24, LOW_53, HALF = np.uint64(2**24 - 1), np.uint64(2**53 - 1), np.uint64(32)
DEFAULT_SEED = 67280421310721  # of a Generator that was not seeded

NO_RANDOMNESS = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or "
    "perform the randomness operation out of vmap"
)


class Generator:
    """A stream of random numbers.

    >>> a, b = Generator().manual_seed(1), Generator().manual_seed(1)
    >>> int(a.words(1)[0]) == int(b.words(1)[0])
    True
    """

    __module__ = "torch._C"

    def __init__(self, device="cpu"):
        self.device = CPU if device == "cpu" else check_generator_device(device)
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed):
        self.seeded_with = wrapped_seed(seed)
        self.engine = None  # made when first drawn from: numpy.random takes its time to import
        self.spare = None  # the second normal number of a pair
        self.drawn = False
        return self

    def initial_seed(self):
        return self.seeded_with

    def seed(self):
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self.seeded_with

    @property
    def bits(self):
        if self.engine is None:
            self.engine = np.random.MT19937()
            self.engine._legacy_seeding(self.seeded_with & 0xFFFFFFFF)
        return self.engine

    def words(self, count):
        """32 random bits each, as uint64."""
        if here.randomness:
            check_randomness(here.randomness[0])
        self.drawn = True
        return self.bits.random_raw(count)

    def long_words(self, count):
        """64 random bits each: two words, the high one first."""
        words = self.words(2 * count)
        return (words[0::2] << HALF) | words[1::2]

    def doubles(self, count):
        """Uniform in [0, 1) with 53 bits."""
        return (self.long_words(count) & LOW_53) * 2.0**-53

    def get_state(self):
        return tensor_of(packed_state(self))

    def set_state(self, new_state):
        unpack_state(self, new_state.array)
        return self

    graphsafe_get_state, graphsafe_set_state = get_state, set_state

    def clone_state(self):
        twin = Generator()
        unpack_state(twin, packed_state(self))
        return twin

    def __reduce__(self):
        return Generator, (self.device,), self.get_state()

    def __setstate__(self, state):
        self.set_state(state)

    def __repr__(self):
        return f"<torch._C.Generator object at {id(self):#x}>"


def check_randomness(mode):
    """Inside vmap, random numbers are refused, or drawn for every example: see batching/factories.py."""
    if mode == "error":
        raise RuntimeError(NO_RANDOMNESS)
    raise Batched


def check_generator_device(name):
    kind = device(name).type
    if kind == "meta":
        raise RuntimeError("META device type not an accelerator.")
    if kind == "cuda":
        raise RuntimeError("Cannot get CUDA generator without ATen_cuda library. " + CUDA_LIBRARY)
    if kind != "cpu":
        raise RuntimeError(f"Device type {kind} is not supported for torch.Generator() api.")
    return device(name)


CUDA_LIBRARY = (
    "PyTorch splits its backend into two shared libraries: a CPU library and a CUDA library; this error has occurred because you "
    "are trying to use some CUDA functionality, but the CUDA library has not been loaded by the dynamic linker for some reason.  "
    "The CUDA library MUST be loaded, EVEN IF you don't directly use any symbols from the CUDA library! One common culprit is a "
    "lack of -Wl,--no-as-needed in your link arguments; many dynamic linkers will delete dynamic library dependencies if you "
    "don't depend on any of their symbols.  You can check if this has occurred by using ldd on your binary to see if there is a "
    "dependency on *_cuda.so library."
)


def wrapped_seed(seed):
    seed = int(seed)
    if not -(2**63) <= seed < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return seed % 2**64


# The bytes of a state, as PyTorch lays them out: the seed, how many words are left, the place of the next, the words, the spare normal.
STATE = np.dtype(
    [("seed", "u8"), ("left", "i4"), ("seeded", "i4"), ("next", "u8"), ("words", "u8", WORDS)]
    + [("x", "f8"), ("rho", "f8"), ("spare", "f8"), ("has_spare", "i4"), ("pad", "i4"), ("float_spare", "f4"), ("has_float_spare", "i4")]
)


def packed_state(generator):
    record, state = np.zeros((), STATE), generator.bits.state["state"]
    place = int(state["pos"]) if generator.drawn else 0
    record["seed"], record["seeded"], record["words"] = generator.seeded_with, 1, state["key"]
    record["next"], record["left"] = place, WORDS + 1 - place if generator.drawn else 1
    if generator.spare is not None:
        record["spare"], record["has_spare"] = generator.spare, 1
    return np.frombuffer(record.tobytes(), np.uint8).copy()


def unpack_state(generator, array):
    if array.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if array.size != STATE.itemsize:
        raise RuntimeError(
            "Expected either a CPUGeneratorImplStateLegacy of size 5048 or a CPUGeneratorImplState of size 5056 but found the input RNG "
            f"state size to be {array.size}"
        )
    record = np.frombuffer(np.ascontiguousarray(array).tobytes(), STATE)[0]
    generator.manual_seed(int(record["seed"]))
    generator.drawn = int(record["next"]) > 0
    place = int(record["next"]) if generator.drawn else WORDS
    generator.bits.state = dict(bit_generator="MT19937", state=dict(key=record["words"].astype(np.uint32), pos=place))
    generator.spare = float(record["spare"]) if record["has_spare"] else None


default_generator = Generator()
default_generator.seed()


# ---- draws on arrays: count and dtype in, numbers out


def uniform(count, dtype, generator, low=0.0, high=1.0):
    """Uniform in [low, high), in the dtype."""
    if dtype.itemsize > 4:
        unit, wide = generator.doubles(count), np.longdouble
    else:
        unit, wide = ((generator.words(count) & LOW_24) * 2.0**-24), np.float64
    if low == 0 and high == 1:
        return unit.astype(dtype)
    kind = np.dtype(np.float32).type if dtype.itemsize < 4 else dtype.type
    return (unit * wide(kind(high) - kind(low)) + wide(kind(low))).astype(kind).astype(dtype)  # one rounding, as a fused multiply-add has


def normal(count, dtype, generator, mean=0.0, std=1.0, few=False):
    """Normal numbers: in blocks of 16, or, where there are fewer (or they do not lie in a row), one by one."""
    if count < 16 or few:
        return (few_normals(count, generator) * std + mean).astype(dtype)
    work, whole = np.dtype(np.float32) if dtype.itemsize == 2 else dtype, count - count % 16
    values = np.empty(count, work)
    drawn = whole if dtype.itemsize == 2 else count  # what does not fill a block is drawn in vain, but not for half precision
    values[:drawn] = uniform(drawn, work, generator)
    values[:whole].reshape(-1, 16)[:] = box_muller(values[:whole].reshape(-1, 16), mean, std)
    if whole < count:
        values[-16:] = box_muller(uniform(16, work, generator)[None], mean, std)[0]
    return values.astype(dtype, copy=False)


def box_muller(block, mean, std):
    kind = block.dtype.type
    if kind is np.float32:
        from gradrepl.engine import normals

        return normals.box_muller(block, mean, std)
    radius, angle = np.sqrt(kind(-2) * np.log(kind(1) - block[:, :8])), kind(2 * math.pi) * block[:, 8:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1) * kind(std) + kind(mean)


def few_normals(count, generator):
    """Pairs in double; the second of a pair waits in the generator for the next call."""
    found = [] if generator.spare is None or not count else [generator.spare]
    missing = count - len(found)
    if found:
        generator.spare = None
    if missing:
        draws = generator.doubles(2 * ((missing + 1) // 2)).reshape(-1, 2)
        radius, angle = np.sqrt(-2 * np.log1p(-draws[:, 1])), 2 * math.pi * draws[:, 0]
        pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
        if missing % 2:
            generator.spare = float(pairs[-1])
        found += pairs[:missing].tolist()
    return np.array(found)


def integers(count, low, high, generator, wide=None):
    """Whole numbers in [low, high), as int64; from 64 bits each if `wide`, which ranges of 2^28 and more are."""
    span = high - low
    draws = generator.long_words(count) if (span >= 2**28 if wide is None else wide) else generator.words(count)
    return (draws % np.uint64(span) + np.array(low % 2**64, np.uint64)).view(np.int64)


def permutation(n, generator):
    steps = (generator.words(max(n - 1, 0)) % np.arange(n, 1, -1, dtype=np.uint64)).tolist()
    order = list(range(n))
    for i, step in enumerate(steps):
        order[i], order[i + step] = order[i + step], order[i]
    return np.array(order, np.int64)


def exponential(count, generator, lambd=1.0):
    return -np.log1p(-generator.doubles(count)) / lambd


def in_memory_order(array, values):
    """Lay values out as PyTorch fills a tensor: along its strides, whatever the order of its dims."""
    if array.flags.c_contiguous:
        return values.reshape(array.shape)
    order = sorted(range(array.ndim), key=lambda dim: -abs(array.strides[dim]))
    return values.reshape([array.shape[dim] for dim in order]).transpose(np.argsort(order))


# ---- draws into a tensor


def need(holds, text):
    if not holds:
        raise RuntimeError(text)


def need_floating(array, kernel):
    if array.dtype.kind not in "fc":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(array.dtype)}'")


def filled(array, draw):
    """What `draw(count, dtype)` gives, in the shape, order and dtype of an array; a complex one takes two numbers an element."""
    if array.dtype.kind == "c":
        real = np.dtype(f"f{array.itemsize // 2}")
        return in_memory_order(array, draw(2 * array.size, real).astype(real).view(array.dtype))
    return in_memory_order(array, draw(array.size, array.dtype)).astype(array.dtype)


@op("UniformBackward0", self="zeros_like(grad)")
def uniform_fill(self, low, high, generator):
    need_floating(self, "check_uniform_bounds")
    need(low <= high, f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    return filled(self, lambda count, dtype: uniform(count, dtype, generator, low, high))


@op("NormalBackward0", self="zeros_like(grad)")
def normal_fill(self, mean, std, generator):
    need(std >= 0, f"normal expects std >= 0.0, but found std {std:g}")
    need_floating(self, "normal_kernel_cpu")
    scale = math.sqrt(0.5) if self.dtype.kind == "c" else 1
    few = not self.flags.c_contiguous
    return filled(self, lambda count, dtype: normal(count, dtype, generator, mean, std * scale, few))


@op("ExponentialBackward0", self="zeros_like(grad)")
def exponential_fill(self, lambd, generator):
    if self.dtype.kind != "f":
        kind = scalar_name(self.dtype)
        raise RuntimeError(
            f"Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified {kind}"
        )
    need(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return filled(self, lambda count, _: exponential(count, generator, lambd))


@op("CauchyBackward0", self="zeros_like(grad)")
def cauchy_fill(self, median, sigma, generator):
    need(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    return filled(self, lambda count, _: median + sigma * np.tan(math.pi * (generator.doubles(count) - 0.5)))


@op("LogNormalBackward0", self="zeros_like(grad)")
def log_normal_fill(self, mean, std, generator):
    need(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}")
    return filled(self, lambda count, _: np.exp(few_normals(count, generator) * std + mean))


@op("GeometricBackward0", self="zeros_like(grad)")
def geometric_fill(self, p, generator):
    need(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return filled(self, lambda count, _: np.ceil(np.log(generator.doubles(count)) / math.log1p(-p)))


@op("BernoulliBackward2", self="zeros_like(grad)")
def bernoulli_number(self, p, generator):
    need(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return filled(self, lambda count, _: generator.doubles(count) < p)


@op("BernoulliBackward1", self="zeros_like(grad)", p="zeros_like(grad)")
def bernoulli_tensor(self, p, generator):
    return bernoulli_array(np.broadcast_to(p, self.shape), generator).astype(self.dtype)


@op("BernoulliBackward0", self="zeros_like(grad)")
def bernoulli_of(self, generator):
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{scalar_name(self.dtype)}'")
    return bernoulli_array(self, generator).astype(self.dtype)


def bernoulli_array(p, generator):
    need(
        bool(((p >= 0) & (p <= 1)).all()),
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)",
    )
    return uniform(p.size, p.dtype, generator).reshape(p.shape) < p


# The largest whole number `random_` draws without bounds: what the dtype's mantissa holds, or the dtype's largest.
LARGEST = {"float16": 2**11, "float32": 2**24, "float64": 2**53, "bool": 1}
KINDS = dict(bool="bool", uint8="unsigned char", int8="signed char", int16="short", int32="int", int64="int64_t")


@op("RandomBackward2", self="zeros_like(grad)")
def random_all(self, generator):
    top = int(LARGEST.get(self.dtype.name) or np.iinfo(self.dtype).max)
    return filled(self, lambda count, _: integers(count, 0, top + 1, generator, wide=self.itemsize == 8))


@op("RandomBackward1", self="zeros_like(grad)")
def random_below(self, to, generator):
    return random_array(self, 0, to, generator)


@op("RandomBackward0", self="zeros_like(grad)")
def random_between(self, low, to, generator):
    return random_array(self, low, to, generator)


def random_array(array, low, high, generator):
    need(low < high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if array.dtype.kind in "iub":
        kind, bounds = (
            KINDS.get(array.dtype.name),
            (0, 1) if array.dtype.kind == "b" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max),
        )
        need(bounds[0] <= low <= bounds[1], f"from is out of bounds for {kind}")
        need(bounds[0] <= high - 1 <= bounds[1], f"to - 1 is out of bounds for {kind}")
    return filled(array, lambda count, _: integers(count, low, high, generator))


def writes(op):
    return op.declaration.functions["_"]


uniform_write, normal_write, exponential_write, cauchy_write = map(writes, (uniform_fill, normal_fill, exponential_fill, cauchy_fill))
log_normal_write, geometric_write = map(writes, (log_normal_fill, geometric_fill))


def uniform_(self, low=0.0, to=1.0, *, generator=None, **named):
    return uniform_write(self, start(low, named), to, generator or default_generator)


def start(low, named):
    """`from` is a word of Python's own, so it can only be asked for by `**`."""
    low = named.pop("from", low)
    if named:
        raise TypeError(f"got an unexpected keyword argument '{next(iter(named))}'")
    return low


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    return normal_write(self, mean, std, generator or default_generator)


def exponential_(self, lambd=1.0, *, generator=None):
    return exponential_write(self, lambd, generator or default_generator)


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    return cauchy_write(self, median, sigma, generator or default_generator)


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    return log_normal_write(self, mean, std, generator or default_generator)


def geometric_(self, p, *, generator=None):
    return geometric_write(self, p, generator or default_generator)


def bernoulli_(self, p=0.5, *, generator=None):
    write = writes(bernoulli_tensor if isinstance(p, Tensor) else bernoulli_number)
    return write(self, p, generator or default_generator)


def bernoulli(input, p=None, *, generator=None, out=None):
    drawn = bernoulli_of(input, generator or default_generator) if p is None else bernoulli_number(input, p, generator or default_generator)
    return drawn if out is None else out.copy_(drawn)


def random_(self, low=None, to=None, *, generator=None, **named):
    low, generator = start(low, named), generator or default_generator
    if low is None and to is None:
        return writes(random_all)(self, generator)
    if low is None or to is None:
        return writes(random_below)(self, to if low is None else low, generator)
    return writes(random_between)(self, low, to, generator)


# ---- tensors of random numbers


def rand_array(size, dtype, generator):
    return uniform_fill.declaration.forward(np.empty(size, dtype or Default.float), 0.0, 1.0, generator or default_generator)


def randn_array(size, dtype, generator):
    return normal_fill.declaration.forward(np.empty(size, dtype or Default.float), 0.0, 1.0, generator or default_generator)


def randint_array(size, low, high, dtype, generator):
    return random_array(np.empty(size, dtype or np.int64), low, high, generator or default_generator)


@made_by
def rand(*size, dtype=None, generator=None, **named):
    return rand_array(shape_from("rand", size, named), dtype, generator)


@made_by
def randn(*size, dtype=None, generator=None, **named):
    return randn_array(shape_from("randn", size, named), dtype, generator)


@made_by
def randint(*args, dtype=None, generator=None, **named):
    low, high, size = bounds(args, named)
    if not isinstance(size, (tuple, list)):
        raise TypeError("randint(): size")
    return randint_array(sizes_of((size,)), low, high, dtype, generator)


def bounds(args, named):
    """(low, high, size) of the forms `(high, size)` and `(low, high, size)`."""
    if len(args) + len(named) == 2:
        args = (0, *args)
    missing = [name for name in ("low", "high", "size")[len(args) :] if name not in named]
    if missing or len(args) + len(named) != 3:
        raise TypeError("randint(): arguments")
    given = dict(zip(("low", "high", "size"), args, strict=False)) | named
    return int(given["low"]), int(given["high"]), given["size"]


@made_by
def randperm(n, dtype=None, generator=None):
    need(n >= 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype is not None and dtype.kind in "ui":
        need(n - 1 <= np.iinfo(dtype).max, f"value cannot be converted to type {dtype.name}_t without overflow")
    return permutation(n, generator or default_generator).astype(dtype or np.int64)


@like
def rand_like(shape_of, dtype=None, generator=None):
    return uniform_fill.declaration.forward(blank_like(shape_of, dtype), 0.0, 1.0, generator or default_generator)


@like
def randn_like(shape_of, dtype=None, generator=None):
    return normal_fill.declaration.forward(blank_like(shape_of, dtype), 0.0, 1.0, generator or default_generator)


@like
def randint_like(shape_of, *args, dtype=None, generator=None, **named):
    low, high, _ = bounds((*args, ()), named) if not named else bounds(args, named | dict(size=()))
    return random_array(blank_like(shape_of, dtype), low, high, generator or default_generator)


@op("NormalBackward1", mean="grad.new_zeros(mean.sym_sizes())")
def normal_around(mean, std, generator):
    need(std >= 0, f"normal expects std >= 0.0, but found std {std:g}")
    return normal(mean.size, mean.dtype, generator).reshape(mean.shape) * mean.dtype.type(std) + mean


@op("NormalBackward2", std="grad.new_zeros(std.sym_sizes())")
def normal_spread(mean, std, generator):
    need(bool((std >= 0).all()), "normal expects all elements of std >= 0.0")
    return normal(std.size, std.dtype, generator).reshape(std.shape) * std + std.dtype.type(mean)


@op("NormalBackward3", mean="grad.new_zeros(mean.sym_sizes())", std="grad.new_zeros(std.sym_sizes())")
def normal_pairs(mean, std, generator):
    need(bool((std >= 0).all()), "normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(mean.shape, std.shape)
    return normal(math.prod(shape), mean.dtype, generator).reshape(shape) * std + mean


@made_by
def normal_sized(mean, std, size, dtype=None, generator=None):
    empty = np.empty(sizes_of((size,)), dtype or Default.float)
    return normal_fill.declaration.forward(empty, mean, std, generator or default_generator)


def normal_public(mean=0.0, std=1.0, size=None, *, generator=None, out=None, **options):
    generator = generator or default_generator
    if size is not None:
        return normal_sized(mean, std, size, generator=generator, out=out, **options)
    if options:
        raise TypeError("normal(): arguments")
    if isinstance(mean, Tensor):
        drawn = (normal_pairs if isinstance(std, Tensor) else normal_around)(mean, std, generator)
    else:
        drawn = normal_spread(mean, std, generator)
    return drawn if out is None else out.copy_(drawn)


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    weights, generator = input.array, generator or default_generator
    check_multinomial(weights, num_samples, replacement)
    rows = weights.reshape(-1, weights.shape[-1])
    draw = with_replacement if replacement and num_samples > 1 else without_replacement  # PyTorch races for one sample either way
    chosen = draw(rows, num_samples, generator)
    result = fresh(chosen.reshape(*weights.shape[:-1], num_samples).astype(np.int64))
    return result if out is None else out.copy_(result)


def check_multinomial(weights, count, replacement):
    need(weights.ndim in (1, 2), "prob_dist must be 1 or 2 dim")
    need(weights.dtype.kind == "f", f"multinomial only supports floating-point dtypes for input, got: {scalar_name(weights.dtype)}")
    need(count > 0, "cannot sample n_sample <= 0 samples")
    need(replacement or count <= weights.shape[-1], "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    need(bool((np.isfinite(weights) & (weights >= 0)).all()), "probability tensor contains either `inf`, `nan` or element < 0")
    need(bool((weights.sum(-1) > 0).all()), "invalid multinomial distribution (sum of probabilities <= 0)")


def with_replacement(rows, count, generator):
    chosen = []
    for row in rows:
        ladder = np.cumsum(row)
        chosen.append(np.searchsorted(ladder / ladder[-1], generator.doubles(count)))
    return np.array(chosen)


def without_replacement(rows, count, generator):
    """The largest of weight / exponential, as many as asked for: an exponential race."""
    race = rows / exponential(rows.size, generator).astype(rows.dtype).reshape(rows.shape)
    return np.argsort(-race, -1, kind="stable")[:, :count]


# ---- the default stream


def manual_seed(seed):
    return default_generator.manual_seed(seed)


def initial_seed():
    return default_generator.initial_seed()


def seed():
    return default_generator.seed()


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(new_state):
    default_generator.set_state(new_state)


publish(
    globals(),
    functions="""rand randn randint randperm rand_like randn_like randint_like normal:normal_public Generator default_generator
        manual_seed initial_seed seed get_rng_state set_rng_state""",
    both="bernoulli multinomial",
    methods="uniform_ normal_ exponential_ cauchy_ log_normal_ geometric_ bernoulli_ random_",
)
