"""Connectionist temporal classification: the probability of a label sequence over all its alignments."""

import numpy as np

from gradrepl.engine.declare import Array, formula, op
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

# ---- NumPy: one sequence. log_probs is (time, classes); states are the labels with blanks around them


def states_of(labels, blank):
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    return states


def may_skip(states):
    """Where a state can follow the one before the last: it is a label, and another one."""
    skip = np.zeros(len(states), bool)
    skip[2:] = (states[2:] != states[0]) & (states[2:] != states[:-2]) if len(states) > 2 else False
    skip[0::2] = False
    return skip


def shifted(values, by):
    """The values `by` places later, -inf where nothing was."""
    out = np.full(len(values), -np.inf)
    if by < len(values):
        out[by:] = values[: len(values) - by]
    return out


def ahead(log_probs, states, skip):
    """log P(the first t steps end in state s), for every t and s."""
    alpha = np.full((len(log_probs), len(states)), -np.inf)
    alpha[0, :2] = log_probs[0, states[:2]]
    for t in range(1, len(log_probs)):
        last = alpha[t - 1]
        reached = np.logaddexp(last, shifted(last, 1))
        reached = np.logaddexp(reached, np.where(skip, shifted(last, 2), -np.inf))
        alpha[t] = reached + log_probs[t, states]
    return alpha


def ending(alpha):
    """log P(the whole): it ends in the last label or in the blank behind it."""
    return np.logaddexp.reduce(alpha[-1, -2:])


def sequences(log_probs, targets, input_lengths, target_lengths):
    """(log-probabilities, labels) of every sample; the labels lie in rows or one after the other."""
    starts = np.concatenate([[0], np.cumsum(target_lengths)])
    for n, (steps, size) in enumerate(zip(input_lengths, target_lengths)):
        labels = targets[n, :size] if targets.ndim == 2 else targets[starts[n] : starts[n] + size]
        yield log_probs[:steps, n].astype(np.float64), labels


@op(
    "CtcLossBackward0",
    outputs="result0, result1",
    differentiable="result0",
    log_probs="ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity)",
)
def _ctc_loss(log_probs, targets: Array, input_lengths, target_lengths, blank=0, zero_infinity=False):
    """(minus the log-probability of each sample, the alphas it came from)"""
    longest = 2 * max(target_lengths, default=0) + 1
    losses, alphas = [], np.full((len(target_lengths), log_probs.shape[0], longest), -np.inf)
    with np.errstate(all="ignore"):
        for n, (scores, labels) in enumerate(sequences(log_probs, targets, input_lengths, target_lengths)):
            states = states_of(labels, blank)
            alpha = ahead(scores, states, may_skip(states))
            alphas[n, : len(scores), : len(states)] = alpha
            losses.append(-ending(alpha) if len(scores) else (0.0 if len(labels) == 0 else np.inf))
    return np.array(losses).astype(log_probs.dtype), alphas.astype(log_probs.dtype)


@formula
def ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity):
    """exp(log p) minus the posterior of each class at each step."""
    scores_all, losses = log_probs.array, result0.array
    out = np.zeros(scores_all.shape, scores_all.dtype)
    with np.errstate(all="ignore"):
        for n, (scores, labels) in enumerate(sequences(scores_all, targets.array, input_lengths, target_lengths)):
            if zero_infinity and np.isinf(losses[n]):
                continue
            states = states_of(labels, blank)
            alpha = ahead(scores, states, may_skip(states))
            beta = ahead(scores[::-1], states[::-1], may_skip(states[::-1]))[::-1, ::-1]
            through = alpha + beta - scores[:, states] - ending(alpha)
            posterior = np.zeros_like(scores)
            np.add.at(posterior, (slice(None), states), np.exp(through))
            out[: len(scores), n] = (np.exp(scores) - posterior) * grad.array[n]
    return without_derivative("_ctc_loss_backward", tensor_of(out), grad, log_probs)


def lengths_of(lengths):
    if isinstance(lengths, Tensor):
        return tuple(int(n) for n in np.atleast_1d(lengths.array))
    return tuple(lengths)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    batched = log_probs.array.ndim == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    input_lengths, target_lengths = lengths_of(input_lengths), lengths_of(target_lengths)
    check(log_probs, targets, input_lengths, target_lengths, blank)
    losses = _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)[0]
    if zero_infinity:
        losses = tensor_of(np.zeros((), losses.array.dtype)).where(losses.isinf(), losses)
    if reduction == 1:
        return (losses / tensor_of(np.maximum(target_lengths, 1).astype(losses.array.dtype))).mean()
    if reduction == 2:
        return losses.sum()
    return losses if batched else losses.squeeze(0)


def check(log_probs, targets, input_lengths, target_lengths, blank):
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    if max(input_lengths, default=0) > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {max(input_lengths)} "
            "(while checking arguments for ctc_loss_allocate_outputs)"
        )


publish(globals(), functions="ctc_loss")
