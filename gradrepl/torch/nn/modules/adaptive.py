"""torch.nn.modules.adaptive: a softmax over many classes, the rare ones in clusters."""

__name__ = __name__.removeprefix("gradrepl.")

from collections import namedtuple

import gradrepl.torch.nn.functional as F
from gradrepl import torch
from gradrepl.torch.nn.modules.container import ModuleList, Sequential
from gradrepl.torch.nn.modules.linear import Linear
from gradrepl.torch.nn.modules.module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


def check_cutoffs(cutoffs, n_classes):
    if len(cutoffs) == 0:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    in_order = list(cutoffs) == sorted(cutoffs) and len(set(cutoffs)) == len(cutoffs)
    if not in_order or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in "
            "an increasing order, where each value is between 1 and n_classes-1"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """The head holds the frequent classes and one entry a cluster; each cluster has a narrower projection of its own."""

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        check_cutoffs(cutoffs := list(cutoffs), n_classes)
        like = dict(device=device, dtype=dtype)
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **like)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            narrow, size = int(in_features // (div_value ** (i + 1))), self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, narrow, bias=False, **like), Linear(narrow, size, bias=False, **like)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        self.check_sizes(input_, target_)
        batched = target_.dim() > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        used = 0
        output, head_index = torch.zeros(target.size(0), dtype=input.dtype), target.clone()
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(dim=1)
            used += rows.numel()
            if rows.numel() and i:
                head_index.index_fill_(0, rows, self.shortlist_size + i - 1)
                scores = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
                own = scores.gather(1, (target[rows] - low).unsqueeze(1))
                output = output.index_copy(0, rows, own.squeeze(1))
        if used != target.size(0):
            span = f"[{target.min().item()}, {target.max().item()}]"
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range {span} were found. ")
        output = output + F.log_softmax(self.head(input), dim=1).gather(1, head_index.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def check_sizes(self, input, target):
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != target.dim() + 1:
            dims = target.dim()
            raise RuntimeError(f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input.size()}")

    def _get_full_log_prob(self, input, head_output):
        """The log-probabilities of all classes."""
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i, (start, stop) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            within = F.log_softmax(self.tail[i](input), dim=1)
            out[:, start:stop] = within + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input):
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        head = self.head(input)
        output = torch.argmax(head, dim=1)
        beyond = output >= self.shortlist_size
        if beyond.any():
            output[beyond] = torch.argmax(self.log_prob(input[beyond]), dim=1)
        return output
