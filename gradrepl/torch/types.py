"""torch.types: names for annotations."""

__name__ = __name__.removeprefix("gradrepl.")

import os
from collections.abc import Sequence
from typing import Any

from gradrepl.engine.dtypes import Size
from gradrepl.engine.dtypes import device as _device
from gradrepl.engine.dtypes import dtype as _dtype
from gradrepl.engine.dtypes import layout as _layout
from gradrepl.engine.memory import TypedStorage as Storage
from gradrepl.engine.tensor import Tensor

Number = int | float | bool
Device = _device | str | int | None
FileLike = str | os.PathLike[str] | Any
_TensorOrTensors = Tensor | Sequence[Tensor]
_int, _float, _bool, _complex, _size = int, float, bool, complex, Size | list[int] | tuple[int, ...]
