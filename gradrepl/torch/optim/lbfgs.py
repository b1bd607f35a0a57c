"""torch.optim.LBFGS: a quasi-Newton method with a short memory, and a strong-Wolfe line search."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, value_of


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic through two points with their slopes, kept within bounds."""
    low, high = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square.sqrt() if isinstance(square, torch.Tensor) else square**0.5
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        found = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(found, low), high)


class Point:
    """Where the line search has been: a step, the loss, its gradient and its slope along the line."""

    __slots__ = ("t", "f", "g", "slope")

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


def strong_wolfe(evaluate, t, start, direction, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """A step with enough decrease and a small enough slope: (the point found, how often the loss was evaluated)"""
    size = direction.abs().max()
    at = lambda t: point_at(evaluate, t, direction)
    previous, current, calls, steps, done = start, at(t), 1, 0, False
    bracket = None
    while steps < max_ls:
        if current.f > start.f + c1 * current.t * start.slope or (steps > 1 and current.f >= previous.f):
            bracket = [previous, current]
            break
        if abs(current.slope) <= -c2 * start.slope:
            bracket, done = [current], True
            break
        if current.slope >= 0:
            bracket = [previous, current]
            break
        low, high = current.t + 0.01 * (current.t - previous.t), current.t * 10
        t = cubic_minimum(previous.t, previous.f, previous.slope, current.t, current.f, current.slope, (low, high))
        previous, current = current, at(t)
        calls, steps = calls + 1, steps + 1
    if steps == max_ls:
        bracket = [start, current]
    return zoom(at, bracket, start, size, done, steps, calls, c1, c2, tolerance_change, max_ls)


def point_at(evaluate, t, direction):
    loss, grad = evaluate(t, direction)
    return Point(t, loss, grad.clone(), grad.dot(direction))


def zoom(at, bracket, start, size, done, steps, calls, c1, c2, tolerance_change, max_ls):
    """Narrow the bracket until a point in it satisfies both conditions."""
    stuck = False
    low, high = (0, 1) if len(bracket) == 1 or bracket[0].f <= bracket[-1].f else (1, 0)
    while not done and steps < max_ls:
        if abs(bracket[1].t - bracket[0].t) * size < tolerance_change:
            break
        one, other = bracket
        t = cubic_minimum(one.t, one.f, one.slope, other.t, other.f, other.slope)
        ends = sorted((one.t, other.t))
        margin = 0.1 * (ends[1] - ends[0])
        if min(ends[1] - t, t - ends[0]) < margin:  # too close to an end twice running: step inside
            if stuck or t >= ends[1] or t <= ends[0]:
                t = ends[1] - margin if abs(t - ends[1]) < abs(t - ends[0]) else ends[0] + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        found = at(t)
        calls, steps = calls + 1, steps + 1
        if found.f > start.f + c1 * t * start.slope or found.f >= bracket[low].f:
            bracket[high] = found
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
        else:
            if abs(found.slope) <= -c2 * start.slope:
                done = True
            elif found.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = found
    return bracket[low], calls


class LBFGS(Optimizer):
    """All parameters as one vector; the closure is called several times a step."""

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        check_lr(lr)
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        defaults = dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad, tolerance_change=tolerance_change)
        super().__init__(params, {**defaults, "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params, self._numel_cache = self.param_groups[0]["params"], None

    # ---- one vector

    def gathered(self):
        flat = lambda p: p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1)
        return torch.cat([flat(p) for p in self._params], 0)

    def move(self, step, direction):
        at = 0
        for parameter in self._params:
            parameter.add_(direction[at : at + parameter.numel()].view_as(parameter), alpha=value_of(step))
            at += parameter.numel()

    def evaluate(self, closure, start, t, direction):
        """The loss and its gradient at a step along the line; the parameters come back."""
        self.move(t, direction)
        loss, grad = float(closure()), self.gathered()
        for parameter, before in zip(self._params, start):
            parameter.copy_(before)
        return loss, grad

    # ---- the step

    def step(self, closure):
        with torch.no_grad():
            return self.run(torch.enable_grad()(closure))

    def run(self, closure):
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evals = float(first_loss), 1
        state["func_evals"] += 1
        grad = self.gathered()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        direction, t, before, loss_before = state.get("d"), state.get("t"), state.get("prev_flat_grad"), state.get("prev_loss")
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            direction = self.direction(state, grad, before, direction, t, group)
            before = grad.clone() if before is None else before.copy_(grad)
            loss_before = loss
            lr = value_of(group["lr"])
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            loss, grad, t, calls = self.advance(closure, loss, grad, t, direction, slope, iterations, group)
            evals += calls
            state["func_evals"] += calls
            small = grad.abs().max() <= group["tolerance_grad"]
            over = iterations == group["max_iter"] or evals >= group["max_eval"]
            still = direction.mul(t).abs().max() <= group["tolerance_change"] or abs(loss - loss_before) < group["tolerance_change"]
            if over or small or still:
                break
        memory = {name: state[name] for name in ("old_dirs", "old_stps", "ro", "H_diag")}
        kept = dict(d=direction, t=t, **memory, prev_flat_grad=before, prev_loss=loss_before)
        for name in kept:  # so that they stand in PyTorch's order
            state.pop(name, None)
        state.update(kept)
        return first_loss

    def advance(self, closure, loss, grad, t, direction, slope, iterations, group):
        """(loss, gradient, step, evaluations) after one move along the direction."""
        search = group["line_search_fn"]
        if search is not None:
            if search != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            start = [parameter.clone(memory_format=torch.contiguous_format) for parameter in self._params]
            evaluate = lambda t, direction: self.evaluate(closure, start, t, direction)
            found, calls = strong_wolfe(evaluate, t, Point(0, loss, grad, slope), direction)
            self.move(found.t, direction)
            return found.f, found.g, found.t, calls
        self.move(t, direction)
        if iterations == group["max_iter"]:
            return loss, grad, t, 0
        with torch.enable_grad():
            loss = float(closure())
        return loss, self.gathered(), t, 1

    def direction(self, state, grad, before, direction, t, group):
        """Minus the gradient times the inverse Hessian that the last moves suggest."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        change, move = grad.sub(before), direction.mul(t)
        curvature = change.dot(move)
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > 1e-10:
            if len(dirs) == group["history_size"]:
                for history in (dirs, steps, ro):
                    history.pop(0)
            dirs.append(change)
            steps.append(move)
            ro.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        alphas = state.setdefault("al", [None] * group["history_size"])
        found = grad.neg()
        for i in reversed(range(len(dirs))):
            alphas[i] = steps[i].dot(found) * ro[i]
            found.add_(dirs[i], alpha=value_of(-alphas[i]))
        found = torch.mul(found, state["H_diag"])
        for i in range(len(dirs)):
            found.add_(steps[i], alpha=value_of(alphas[i] - dirs[i].dot(found) * ro[i]))
        return found
