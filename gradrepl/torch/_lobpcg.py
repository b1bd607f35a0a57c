"""torch.lobpcg: the largest or smallest eigenvalues of a symmetric matrix, and their vectors.

PyTorch approaches them by iteration; here all are computed, which for matrices that fit an interactive session is as fast, and exact.
"""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.engine.function import Function

SMALL = "LOBPCG algorithm is not applicable when the number of A rows (={}) is smaller than 3 x the number of requested eigenpairs (={})"


def eigenpairs(A, B, k, largest):
    """The first `k` eigenpairs, the most wanted first; with `B`, of A x = B x E."""
    if B is not None:
        root = torch.linalg.cholesky(B)
        half = torch.linalg.solve_triangular(root, A, upper=False)
        A = torch.linalg.solve_triangular(root, half.mT, upper=False)
    E, X = torch.linalg.eigh((A + A.mT) / 2)
    if largest:
        E, X = E.flip(-1), X.flip(-1)
    E, X = E[..., :k], X[..., :k]
    return E, X if B is None else torch.linalg.solve_triangular(root.mT, X, upper=True)


class LOBPCGAutogradFunction(Function):
    """The gradient of a full decomposition, as far as the pairs asked for go."""

    @staticmethod
    def forward(ctx, A, k, B, X, largest):
        E, U = eigenpairs(A, B, k, largest)
        if X is not None:  # a vector's sign is free: take that of the guess
            sign = (X[..., :k] * U).sum(-2, keepdim=True).sign()
            U = U * torch.where(sign == 0, torch.ones_like(sign), sign)
        ctx.save_for_backward(A, B, U)
        ctx.k, ctx.largest = k, largest
        return E, U

    @staticmethod
    def backward(ctx, E_grad, U_grad):
        A, B, U = ctx.saved_tensors
        if A.is_complex():
            raise ValueError("lobpcg.backward does not support complex input yet. Note that lobpcg.forward does though.")
        if B is not None:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        recording = torch.is_grad_enabled()
        with torch.enable_grad():
            again = A if recording else A.detach().requires_grad_()
            E, V = eigenpairs(again, None, ctx.k, ctx.largest)
            sign = (V.detach() * U.detach()).sum(-2, keepdim=True).sign()
            (grad,) = torch.autograd.grad((E, V * sign), again, (E_grad, U_grad), create_graph=recording)
        return grad, None, None, None, None


def lobpcg(
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """The `k` largest (or smallest) eigenvalues of a symmetric matrix, or of A x = B x E, and their vectors."""
    if A.requires_grad or B is not None and B.requires_grad:  # so that the gradients are symmetric as well
        A, B = (A + A.mT) / 2, None if B is None else (B + B.mT) / 2
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    rows = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if rows < 3 * n:
        raise ValueError(SMALL.format(rows, n))
    if X is not None and tuple(X.shape[-2:]) != (rows, n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(rows, n)}")
    return LOBPCGAutogradFunction.apply(A, k, B, X, True if largest is None else largest)
