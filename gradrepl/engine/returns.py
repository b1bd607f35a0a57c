"""PyTorch's named results, `torch.return_types.max` and its like: tuples with named fields. Imports nothing."""

FIELDS = {
    "values indices": "max min median nanmedian mode kthvalue sort topk cummax cummin",
    "min max": "aminmax",
    "mantissa exponent": "frexp",
    "hist bin_edges": "histogram histogramdd",
    "primal tangent": "_unpack_dual",
    "a tau": "geqrf",
    "Q R": "qr linalg_qr",
    "U S V": "svd",
    "U S Vh": "linalg_svd _linalg_svd",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh _linalg_eigh",
    "sign logabsdet": "slogdet linalg_slogdet",
    "sign logabsdet LU pivots": "_linalg_slogdet",
    "result LU pivots": "_linalg_det",
    "result LU pivots info": "_linalg_solve_ex",
    "result info": "linalg_solve_ex",
    "L info": "linalg_cholesky_ex",
    "inverse info": "linalg_inv_ex",
    "LD pivots": "linalg_ldl_factor",
    "LD pivots info": "linalg_ldl_factor_ex",
    "LU pivots": "linalg_lu_factor",
    "LU pivots info": "linalg_lu_factor_ex _lu_with_info",
    "P L U": "linalg_lu lu_unpack",
    "solution residuals rank singular_values": "linalg_lstsq",
    "solution cloned_coefficient": "triangular_solve",
}
RETURN_TYPES: dict = {}


class ReturnType(tuple):
    """A tuple whose fields have names."""

    __slots__ = ()
    __match_args__ = ()

    def __repr__(self):
        lines = ",\n".join(f"{field}={value!r}" for field, value in zip(self.__match_args__, self))
        return f"torch.return_types.{type(self).__name__}(\n{lines})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def return_type(name, fields):
    """Make the type of one operation's results; `fields` are names in order."""
    names = fields.split()
    places = {field: property(lambda self, place=place: self[place]) for place, field in enumerate(names)}
    count = dict(n_fields=len(names), n_sequence_fields=len(names), n_unnamed_fields=0)
    body = dict(__slots__=(), __module__="torch.return_types", __match_args__=tuple(names), **count)
    return type(name, (ReturnType,), body | places)


RETURN_TYPES.update((name, return_type(name, fields)) for fields, names in FIELDS.items() for name in names.split())


def named(name, results):
    """Several results as PyTorch's named tuple."""
    return RETURN_TYPES[name](results)
