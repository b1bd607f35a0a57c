"""Connectionist temporal classification: the log-probability of a label sequence over all its alignments.

The extended target puts blanks around every label; alpha runs over it forwards, beta backwards (Graves et al. 2006, equations 6 to 16).
"""

import numpy as np

from gradrepl.engine.declare import Array, op
from gradrepl.engine.ops.comparison import choose
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

NEVER = -np.inf


def labels_of(targets, lengths):
    """The label sequence of every batch element, from a padded table or from one long line."""
    if targets.ndim == 2:
        return [row[:n] for row, n in zip(targets, lengths)]
    return np.split(targets, np.cumsum(lengths)[:-1])


def extended(labels, blank):
    line = np.full(2 * len(labels) + 1, blank, np.int64)
    line[1::2] = labels
    return line


def skips(line):
    """Whether a place may be reached from two places before: a label, and not the same one again."""
    return np.concatenate([[False, False], line[2:] != line[:-2]]) & (np.arange(len(line)) % 2 == 1)


def forwards(scores, line):
    """log alpha: (time, places)."""
    alpha = np.full((len(scores), len(line)), NEVER)
    alpha[0, :2] = scores[0, line[:2]]
    may_skip = skips(line)
    for t in range(1, len(scores)):
        alpha[t] = arriving(alpha[t - 1], may_skip) + scores[t, line]
    return alpha


def arriving(before, may_skip):
    """The log-sum of staying, of one step and of a skip."""
    one = np.concatenate([[NEVER], before[:-1]])
    two = np.where(may_skip, np.concatenate([[NEVER, NEVER], before[:-2]])[: len(before)], NEVER)
    return np.logaddexp(np.logaddexp(before, one), two)


def backwards(scores, line):
    """log beta, the same from the end."""
    flipped = line[::-1]
    return forwards(scores[::-1], flipped)[::-1, ::-1]


@op(
    "CtcLossBackward0",
    outputs="result0, result1",
    differentiable="result0",
    log_probs="ctc_backward(grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity)",
)
def ctc_loss_forward(log_probs, targets: Array, input_lengths, target_lengths, blank=0, zero_infinity=False):
    longest = 2 * max(target_lengths, default=0) + 1
    alphas = np.full((log_probs.shape[1], log_probs.shape[0], longest), NEVER)
    losses = np.zeros(log_probs.shape[1])
    for b, labels in enumerate(labels_of(targets, target_lengths)):
        line, steps = extended(labels, blank), input_lengths[b]
        if not steps:
            losses[b] = 0 if not len(labels) else np.inf
            continue
        alpha = forwards(log_probs[:steps, b].astype(np.float64), line)
        alphas[b, :steps, : len(line)] = alpha
        losses[b] = -np.logaddexp.reduce(alpha[-1, -2:])
    return losses.astype(log_probs.dtype), alphas.astype(log_probs.dtype)


@op()
def ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths,
    target_lengths,
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank,
    zero_infinity,
):
    result = np.zeros(log_probs.shape)
    for b, labels in enumerate(labels_of(targets, target_lengths)):
        line, steps, loss = extended(labels, blank), input_lengths[b], float(neg_log_likelihood[b])
        if not steps or (zero_infinity and loss == np.inf):
            continue
        scores = log_probs[:steps, b].astype(np.float64)
        both = log_alpha[b, :steps, : len(line)].astype(np.float64) + backwards(scores, line)
        through = np.full(scores.shape, NEVER)
        for place, label in enumerate(line):
            through[:, label] = np.logaddexp(through[:, label], both[:, place])
        result[:steps, b] = (np.exp(scores) - np.exp(through + loss - scores)) * grad[b]
    return result.astype(log_probs.dtype)


def lengths_of(lengths):
    return tuple(int(n) for n in (lengths.array.reshape(-1) if isinstance(lengths, Tensor) else lengths))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    batched = log_probs.array.ndim == 3
    scores = log_probs if batched else log_probs.unsqueeze(1)
    targets = targets if batched or targets.array.ndim == 1 and len(lengths_of(target_lengths)) == 1 else targets.unsqueeze(0)
    inputs, labels = lengths_of(input_lengths), lengths_of(target_lengths)
    check_ctc(scores, inputs, labels, blank)
    loss = ctc_loss_forward(scores, targets, inputs, labels, blank, zero_infinity)[0]
    if zero_infinity:
        loss = choose(loss == float("inf"), tensor_of(np.zeros((), loss.array.dtype)), loss)
    if reduction == 1:
        return (loss / tensor_of(np.maximum(labels, 1).astype(loss.array.dtype))).mean()
    return loss.sum() if reduction == 2 else loss if batched else loss.squeeze(0)


def check_ctc(scores, inputs, labels, blank):
    steps, batch, classes = scores.array.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if len(inputs) != batch:
        raise RuntimeError("input_lengths must be of size batch_size")
    if len(labels) != batch:
        raise RuntimeError("target_lengths must be of size batch_size")
    for n in inputs:
        if n > steps:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {steps}, but got value {n} "
                "(while checking arguments for ctc_loss_allocate_outputs)"
            )


publish(globals(), functions="ctc_loss")
