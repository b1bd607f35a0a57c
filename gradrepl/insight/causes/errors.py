"""What an error of autograd means in this program: which tensor, which line, what to write instead. Imports the rules for each kind."""

from __future__ import annotations

import re
from types import FrameType

from gradrepl.insight.causes import error_backward, error_functions, error_tensors, error_writes
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.failure import Failure, last_error
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question


def explain_error(error: BaseException, frame: FrameType) -> Answer:
    f = Failure(error, frame)
    for pattern, rule in RULES:
        if re.search(pattern, f"{type(error).__name__}: {f.message}", re.DOTALL):
            found = rule(f)
            if found is not None:
                return found
    told = f"{type(error).__name__}: {f.reason}"
    if f.place is None:
        return answer("error", f"{told}: this error was made and not raised, or its traceback is gone, so its place is not known.")
    return answer(
        "error",
        f"{f.said + ' on ' if f.said else ''}{f.line} raised {told}.",
        "this error is not one that autograd raises about its graph, so only the place is known",
    )


def failed_backward(q: Question) -> Answer | None:
    """A tensor whose backward raised: the error explains it."""
    error = last_error()
    if error is None or q.tensor.grad_fn is None:
        return None
    f = Failure(error, q.frame)
    return explain_error(error, q.frame) if called(f.parsed) in ("backward", "grad") and f.subject is q.tensor else None


RULES = (
    (r"Trying to backward through the graph a second time", error_backward.backward_twice),
    (r"modified by an inplace operation", error_writes.modified),
    (r"detached in-place, i\.e\. with \.detach_", error_writes.detached_in_place),
    (r"multiple views|returns multiple views", error_writes.several_views),
    (r"[Vv]iew (was|which was) created in (no_grad|inference) mode", error_writes.no_grad_view),
    (r"leaf Variable that requires grad", error_writes.leaf_written),
    (r"[Ii]nference tensor", error_writes.inference),
    (r"single memory location", error_writes.overlapping),
    (r"implicitly created only for", error_backward.not_scalar),
    (r"does not require grad and does not have a grad_fn", error_backward.no_history),
    (r"appears to not have been used in the graph", error_backward.not_used),
    (r"differentiated Tensors does not require grad", error_backward.not_differentiated),
    (r"Mismatch in shape: grad_output", error_backward.mismatch),
    (r"[Oo]nly Tensors of floating point (and complex )?dtype can require", error_tensors.integer_leaf),
    (r"Can't call numpy\(\)", error_tensors.to_numpy),
    (r"support the deepcopy protocol", error_tensors.deep_copy),
    (r"only change requires_grad flags of leaf", error_tensors.change_flag),
    (r"(AttributeError|TypeError)(?!.*'backward').*'?NoneType'?", error_tensors.no_grad_yet),
    (r"can't retain_grad|cannot register a hook on a tensor", error_tensors.hook_without_graph),
    (r"can't optimize a non-leaf", error_tensors.non_leaf_optimised),
    (r"as parameter .*Parameter or None expected", error_tensors.not_a_parameter),
    (r"assign a gradient", error_tensors.assigned_gradient),
    (r"Can't detach views in-place", error_tensors.detach_view),
    (r"incorrect number of gradients", error_functions.gradients_returned),
    (r"returned an invalid gradient", error_functions.gradient_shape),
    (r"must implement either the backward", error_functions.backward_missing),
    (r"marked with @once_differentiable", error_functions.once),
    (r"Legacy autograd function", error_functions.legacy),
    (r"backward\(\) takes .*positional argument", error_functions.gradients_given),
    (r"save_for_backward can only save", error_functions.not_saved),
    (r"created inside a custom Function", error_functions.view_in_function),
    (r"view size is not compatible", error_tensors.not_viewable),
    (r"can't be cast to the desired output type", error_tensors.not_castable),
    (r"hook .* has changed the (size|type)|but hook returned", error_tensors.changed_by_hook),
    (r"empty parameter list", error_tensors.no_parameters),
    (r"used as indices must be|scalar types: Long, Int", error_tensors.not_an_index),
    (r"out of bounds|out of range", error_tensors.out_of_range),
    (r"object has no attribute 'backward'", error_tensors.plain_number),
    (r"should be between 0 and 1", error_tensors.not_a_probability),
    (r"returned nan values in its", error_functions.anomaly),
    (
        r"must match the size of tensor|shapes cannot be multiplied|not broadcastable|size mismatch|is invalid for input of size|"
        r"match the broadcast shape|Sizes of tensors must match|to be equal size|to match target batch_size",
        error_tensors.shapes,
    ),
    (r"same dtype|Found dtype|expected scalar type|expected target dtype|infer output dtype", error_tensors.dtypes),
    (r"Boolean value of Tensor", error_tensors.truth),
    (r"cannot be converted to Scalar|only one element tensors can be converted", error_tensors.to_number),
)
