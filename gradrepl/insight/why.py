"""why(x): the cause of what a gradient is, in a sentence, with the evidence. Imports the rules, which import everything else."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.causes.answer import Answer


def why(subject: Any = None) -> Answer:
    """Tell why a gradient is None, zero, NaN or what it is, or why an error was raised.

    `subject` is a tensor, or an exception; without one, the last error.

    >>> from gradrepl import torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> why(x).cause
    'requires_grad is False'
    """
    frame = sys._getframe(1)
    if subject is None:
        from gradrepl.insight.causes.failure import last_error

        subject = last_error()
        if subject is None:
            return Answer("nothing asked", "There was no error; ask about a tensor: why(x).")
    if isinstance(subject, BaseException):
        from gradrepl.insight.causes.errors import explain_error

        return explain_error(subject, frame)
    if not is_tensor(subject):
        raise TypeError(f"why() takes a tensor or an exception, not {type(subject).__name__}; for example why(x) or why(error)")
    try:
        subject.grad_fn  # noqa: B018, that of a view is made anew when it is asked for, which may be refused
    except RuntimeError as error:
        from gradrepl.insight.causes.errors import explain_error

        return explain_error(error, frame)
    return first_answer(subject, frame)


def first_answer(tensor: Any, frame: FrameType) -> Answer:
    from gradrepl.insight.causes.question import Question

    question = Question(tensor, frame)
    for rule in rules_for(question):
        found = rule(question)
        if found is not None:
            return found
    raise AssertionError("the last rule of each kind always answers")


def rules_for(question: Any) -> tuple:
    """The rules for what the gradient looks like: missing, not finite, partly zero, or a number."""
    gradient = gradient_of(question.tensor)
    if gradient is None:
        from gradrepl.insight.causes import errors, missing

        return (errors.failed_backward, *missing.RULES)
    from gradrepl.insight.causes import nonfinite, values, zeros

    question.gradient = gradient
    return (*nonfinite.RULES, *values.FIRST, *zeros.RULES, *values.RULES)


def gradient_of(tensor: Any) -> Any:
    """.grad, without the warning that PyTorch gives for a non-leaf."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None
