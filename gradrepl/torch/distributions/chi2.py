"""torch.distributions.chi2: the chi-squared distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl.torch.distributions.gamma import Gamma


class Chi2(Gamma):
    arg_constraints = {"df": constraints.positive}
    df = property(lambda self: self.concentration * 2)

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))
