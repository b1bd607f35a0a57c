"""torch.autograd.anomaly_mode."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings

from gradrepl.engine.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """Inside `with`, a failing backward tells where its forward was, and nan in a gradient is an error."""

    def __init__(self, check_nan=True):
        self.prev, self.check_nan, self.prev_check_nan = is_anomaly_enabled(), check_nan, is_anomaly_check_nan_enabled()
        text = "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
        warnings.warn(text, stacklevel=2)

    def __enter__(self):
        self.prev, self.prev_check_nan = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *args):
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Turns anomaly mode on or off at once; `with` only brings the old state back."""

    def __init__(self, mode, check_nan=True):
        self.prev, self.prev_check_nan = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        set_anomaly_enabled(self.prev, self.prev_check_nan)
