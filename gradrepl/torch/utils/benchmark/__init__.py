"""torch.utils.benchmark: how long statements take, measured often enough to tell, and tables of it."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.utils.benchmark.utils.common import Measurement, TaskSpec, ordered_unique, select_unit, trim_sigfig, unit_to_english
from gradrepl.torch.utils.benchmark.utils.compare import Colorize, Compare
from gradrepl.torch.utils.benchmark.utils.timer import Language, Timer, timer
