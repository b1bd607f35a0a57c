"""torch._tensor_str: the options of printing."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.printing import get_printoptions, printoptions, set_printoptions
from gradrepl.engine.printing import tensor_text as _str
