"""Complex numbers: their parts, made of parts, conjugated: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.mirrors import CONJUGATE, NEGATIVE, sign_of
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.pointwise import in_place
from gradrepl.engine.promotion import COMPLEX, SCALARS, narrowed
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import mirrored, offset, storage, strided

UNRESOLVED = (
    "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use "
    "self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
)


@op("ConjBackward0", self="conj(grad)", view="conjugated")
def conj_view(self):
    return np.conj(self)


@op("NegViewBackward0", self="neg_view(grad)", view="negated")
def neg_view(self):
    if self.dtype.kind == "b":
        raise NotImplementedError("\"neg_cpu\" not implemented for 'Bool'")
    return np.negative(self)


@op("ConjPhysicalBackward0", self="conj_physical(grad)")
def conj_physical_of(self):
    return np.conj(self)


@op("ConjPhysicalBackward1", self="conj_physical(grad)")
def conj_physical_written(self):
    return np.conj(self)


def conj(self):
    """The conjugate, as a view; a real tensor is its own."""
    return conj_view(self) if self.array.dtype.kind == "c" else self


def conjugated(source, result):
    return mirrored(source, result, np.conj, CONJUGATE, conj)


def negated(source, result):
    return mirrored(source, result, np.negative, NEGATIVE, neg_view)


NAMES.update(conjugated=conjugated, negated=negated)


def is_conj(self):
    return bool(sign_of(self) & CONJUGATE)


def is_neg(self):
    return bool(sign_of(self) & NEGATIVE)


def resolve_conj(self):
    return self.clone() if is_conj(self) else self


def resolve_neg(self):
    return self.clone() if is_neg(self) else self


@op("Identity", self="grad", view=True)
def fw_primal(self):
    return self[...]


def conj_physical(self):
    return conj_physical_of(self) if self.array.dtype.kind == "c" else self


def conj_physical_(self):
    return in_place(conj_physical_written)(self) if self.array.dtype.kind == "c" else self


@op("ViewAsRealBackward0", self="view_as_complex(grad.contiguous())", view=True)
def view_as_real(self):
    if self.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    part = self.real.dtype
    step = [stride // part.itemsize for stride in self.strides]
    return strided(storage(self).view(part), (*self.shape, 2), (*step, 1), 2 * offset(self))


@op("ViewAsComplexBackward0", self="view_as_real(grad.contiguous())", view=True)
def view_as_complex(self):
    if self.dtype.kind != "f":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{SCALARS[self.dtype.name]}"
        )
    if not self.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if not self.size:
        return np.empty(self.shape[:-1], COMPLEX[self.itemsize])
    if self.strides[-1] != self.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * self.itemsize) for s in self.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset(self) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    dtype = np.dtype(COMPLEX[self.itemsize])
    step = [stride // dtype.itemsize for stride in self.strides[:-1]]
    return strided(storage(self)[: storage(self).size // 2 * 2].view(dtype), self.shape[:-1], step, offset(self) // 2)


def view_as_real_checked(self):
    if is_conj(self):
        raise RuntimeError(UNRESOLVED)
    return view_as_real(self)


def real(self):
    if self.array.dtype.kind != "c":
        return self
    return view_as_real(conj(self) if is_conj(self) else self).select(self.array.ndim, 0)


def imag(self):
    if self.array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if is_conj(self):
        return neg_view(view_as_real(conj(self))).select(self.array.ndim, 1)
    return view_as_real(self).select(self.array.ndim, 1)


@op("ComplexBackward0", real="real_of(grad, real)", imag="imag_of(grad, imag)")
def complex(real, imag):
    check_parts(real, imag)
    result = np.empty(np.broadcast_shapes(real.shape, imag.shape), COMPLEX[real.itemsize])
    result.real, result.imag = real, imag
    return result


def check_parts(first, second):
    names = SCALARS[first.dtype.name], SCALARS[second.dtype.name]
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}")
    if first.dtype != second.dtype:
        raise RuntimeError(f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument")


@op("PolarBackward0", {"abs, angle": "polar_backward(grad, result)"})
def polar(abs, angle):
    check_parts(abs, angle)
    result = np.empty(np.broadcast_shapes(abs.shape, angle.shape), COMPLEX[abs.itemsize])
    result.real, result.imag = abs * np.cos(angle), abs * np.sin(angle)
    return result


@op("AngleBackward0", self="angle_backward(grad, self)")
def angle(self):
    if self.dtype.kind == "c":
        return np.angle(self)
    self = narrowed(self)
    return np.where(np.isnan(self), self, np.where(self < 0, self.dtype.type(np.pi), self.dtype.type(0)))


def set_real(self, value):
    real(self).copy_(value) if isinstance(value, Tensor) else real(self).fill_(value)


def set_imag(self, value):
    imag(self).copy_(value) if isinstance(value, Tensor) else imag(self).fill_(value)


real_part, imaginary_part = property(real, set_real), property(imag, set_imag)
publish(
    globals(),
    both="conj resolve_conj resolve_neg is_conj is_neg conj_physical angle",
    functions="real imag complex polar view_as_real:view_as_real_checked view_as_complex conj_physical_",
    methods="conj_physical_ real:real_part imag:imaginary_part _neg_view:neg_view _conj:conj",
)
