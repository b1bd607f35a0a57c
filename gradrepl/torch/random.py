"""torch.random: the default stream of random numbers."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib

from gradrepl.engine.random import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Bring the stream back to where it stands now when the block ends."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def thread_safe_generator():
    """The stream of a DataLoader's worker that is a thread; None, and so the default stream, anywhere else."""
    from gradrepl.torch.utils.data import get_worker_info

    info = get_worker_info()
    if info is None or info.worker_method != "thread" or info.rng is None:
        return None
    return info.rng.torch_generator
