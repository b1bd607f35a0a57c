"""Pictures as they are where nobody watches the program."""

from tests.graphs.conftest import unwatched

__all__ = ["unwatched"]
