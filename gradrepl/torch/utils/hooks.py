"""torch.utils.hooks: the handle that removes a hook, and the autograd functions that put backward hooks around a module."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings

from gradrepl.engine.function import Function
from gradrepl.engine.hooks import RemovableHandle
from gradrepl.engine.tensor import Tensor


class BackwardHookFunction(Function):
    """The identity, with a node of its own to hang a hook on."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *args):
        return args


BackwardHookFunction.__module__ = "torch.nn.modules._functions"


class BackwardHook:
    """One call of a module with full backward hooks: identities around its inputs and outputs see their gradients.

    The user's hooks run when the gradients of the inputs are known, or, where no input requires grad, with those of the outputs.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs = self.n_outputs = self.n_inputs = self.input_places = self.output_places = None

    def spread(self, grads, places, length):
        """The gradients of the tensors at their places among all arguments."""
        spread = [None] * length
        for place, grad in zip(places, grads):
            spread[place] = grad
        return tuple(spread)

    def wrapped(self, values, register):
        """Pass the tensors among `values` through the identity; returns the new values and where the tensors are."""
        places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not any(values[i].requires_grad for i in places):
            return values, None
        passed = BackwardHookFunction.apply(*[values[i] for i in places])
        passed = passed if isinstance(passed, tuple) else (passed,)
        register(next(x.grad_fn for x in passed if x.grad_fn is not None))
        changed = list(values)
        for place, tensor in zip(places, passed):
            changed[place] = tensor
        return tuple(changed), places

    def setup_input_hook(self, args):
        def hook(grad_input, grad_output):
            if self.grad_outputs is None:  # the outputs got no gradient in this backward
                return None
            answer = grad_input = self.spread(grad_input, self.input_places, self.n_inputs)
            for user_hook in self.user_hooks:
                answer = self.changed(user_hook(self.module, answer, self.grad_outputs), answer)
            self.grad_outputs = None
            return None if answer is grad_input else tuple(answer[i] for i in self.input_places)

        args, self.input_places = self.wrapped(args, lambda node: node.register_hook(hook))
        self.n_inputs = len(args)
        return args

    def setup_output_hook(self, values):
        def hook(grad_output):
            self.grad_outputs = self.spread(grad_output, self.output_places, self.n_outputs)
            before = self.grad_outputs
            for user_pre_hook in self.user_pre_hooks:
                self.grad_outputs = self.changed(user_pre_hook(self.module, self.grad_outputs), self.grad_outputs)
            answer = None if self.grad_outputs is before else tuple(self.grad_outputs[i] for i in self.output_places)
            if self.input_places is None:
                self.call_without_inputs()
            return answer

        several = isinstance(values, tuple)
        if not several and not isinstance(values, Tensor):
            return values
        values, self.output_places = self.wrapped(values if several else (values,), lambda node: node.register_prehook(hook))
        self.n_outputs = len(values)
        return values if several else values[0]

    def call_without_inputs(self):
        nothing = self.spread((), (), self.n_inputs)
        for user_hook in self.user_hooks:
            answer = user_hook(self.module, nothing, self.grad_outputs)
            if answer is not None and not (isinstance(answer, tuple) and all(part is None for part in answer)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                )
        self.grad_outputs = None

    def changed(self, answer, current):
        """What a user's hook makes of the gradients."""
        if answer is None:
            return current
        answer = answer if isinstance(answer, tuple) else (answer,)
        if len(answer) != len(current):
            raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(answer)}, but expected {len(current)}")
        return answer


def unserializable_hook(function):
    """Mark a hook that is not to be pickled with its tensor."""
    function.__torch_unserializable__ = True
    return function


def warn_if_has_hooks(tensor):
    if tensor._backward_hooks:
        warnings.warn("backward hook on tensor will not be serialized", stacklevel=2)
