"""Names of things as PyTorch's messages spell them. Imports nothing of the engine."""

import re

# NumPy's dtype name -> the legacy tensor type that messages speak of
TYPE_NAMES = dict(
    float16="HalfTensor",
    bfloat16="BFloat16Tensor",
    float32="FloatTensor",
    float64="DoubleTensor",
    complex64="ComplexFloatTensor",
    complex128="ComplexDoubleTensor",
    int8="CharTensor",
    int16="ShortTensor",
    int32="IntTensor",
    int64="LongTensor",
    uint8="ByteTensor",
    uint16="UInt16Tensor",
    uint32="UInt32Tensor",
    uint64="UInt64Tensor",
    bool="BoolTensor",
)


def type_name(tensor):
    return f"torch.{TYPE_NAMES[tensor.array.dtype.name]}"


def short_name(node):
    """How messages call a node: Exp for ExpBackward0, Fill2 for FillBackward2."""
    return re.sub(r"Backward(\d*)$", lambda match: match[1].lstrip("0"), node.name())


# NumPy's dtype name -> the scalar type as a few messages spell it, in C's words
SCALAR_TYPES = dict(
    float16="c10::Half",
    float32="float",
    float64="double",
    int8="signed char",
    int16="short int",
    int32="int",
    int64="long int",
    uint8="unsigned char",
    bool="bool",
    complex64="c10::complex<float>",
    complex128="c10::complex<double>",
)
