"""torch.testing: comparing tensors, and making some to compare."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.testing._comparison import assert_allclose, assert_close
from gradrepl.torch.testing._creation import make_tensor
