"""torch.linalg: linear algebra."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine import algebra as _algebra  # noqa: F401  (declares what follows, with its derivatives)
from gradrepl.engine.ops.decompositions import LinAlgError
from gradrepl.engine.ops.linalg import (
    cholesky_ex,
    cond,
    det,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    inv_ex,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    lstsq,
    lu_factor,
    lu_factor_ex,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    pinv,
    solve_ex,
    solve_triangular,
    svdvals,
    tensorinv,
    tensorsolve,
    vecdot,
)
from gradrepl.engine.ops.linalg import linalg_cholesky as cholesky
from gradrepl.engine.ops.linalg import linalg_cross as cross
from gradrepl.engine.ops.linalg import linalg_diagonal as diagonal
from gradrepl.engine.ops.linalg import linalg_eig as eig
from gradrepl.engine.ops.linalg import linalg_eigh as eigh
from gradrepl.engine.ops.linalg import linalg_lu as lu
from gradrepl.engine.ops.linalg import linalg_lu_solve as lu_solve
from gradrepl.engine.ops.linalg import linalg_matmul as matmul
from gradrepl.engine.ops.linalg import linalg_norm as norm
from gradrepl.engine.ops.linalg import linalg_qr as qr
from gradrepl.engine.ops.linalg import linalg_slogdet as slogdet
from gradrepl.engine.ops.linalg import linalg_solve as solve
from gradrepl.engine.ops.linalg import linalg_svd as svd
from gradrepl.engine.ops.linalg import linalg_vander as vander
from gradrepl.engine.ops.norms import vector_norm
from gradrepl.engine.public import show as _show

_show(globals(), "linalg")
