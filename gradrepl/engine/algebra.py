"""Linear algebra, Fourier transforms and histograms, imported when one of them is first called: starting does not pay for them."""
# ruff: noqa: F401

from gradrepl.engine.formulas import fourier as _fourier
from gradrepl.engine.formulas import linalg as _linalg
from gradrepl.engine.ops import decompositions, einsum, fourier, histograms, linalg, lowrank, segments
