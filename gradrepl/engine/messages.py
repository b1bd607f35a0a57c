"""Names of things as PyTorch's messages spell them. Imports dtypes."""

import re

from gradrepl.engine.dtypes import scalar_name


def type_name(tensor):
    """The tensor type of old that messages still speak of: torch.FloatTensor."""
    return f"torch.{scalar_name(tensor.array.dtype)}Tensor"


def short_name(node):
    """How messages call a node: Exp for ExpBackward0, Fill2 for FillBackward2."""
    return re.sub(r"Backward(\d*)$", lambda match: match[1].lstrip("0"), node.name())


# NumPy's dtype name -> the scalar type as messages spell it that know only the C++ type
SCALAR_TYPES = dict(
    float16="c10::Half",
    bfloat16="c10::BFloat16",
    float32="float",
    float64="double",
    int8="signed char",
    int16="short int",
    int32="int",
    int64="long int",
    uint8="unsigned char",
    uint16="short unsigned int",
    uint32="unsigned int",
    uint64="long unsigned int",
    bool="bool",
    complex64="c10::complex<float>",
    complex128="c10::complex<double>",
)
