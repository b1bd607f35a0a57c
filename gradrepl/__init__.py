"""gradrepl: a shell that speaks PyTorch and shows the graph under `grad_fn`. Nothing is imported before it is used."""

import importlib

__version__ = "0.1.0"

# public name -> the module that defines it
_HOMES = {
    "torch": "gradrepl.torch",
    "graph": "gradrepl.graphs",
    "Graph": "gradrepl.graphs",
    "tree": "gradrepl.render",
    "save": "gradrepl.render",
    "listing": "gradrepl.render",
    "module_scopes": "gradrepl.graphs",
    "mimebundle": "gradrepl.render",
    "explain": "gradrepl.insight.explain",
    "step": "gradrepl.insight.step",
    "why": "gradrepl.insight.why",
    "check": "gradrepl.insight.check",
    "saved": "gradrepl.insight.saved",
    "diff": "gradrepl.insight.diff",
    "use_embedded_torch": "gradrepl.embedding",
    "embed": "gradrepl.repl.start",
    "load_ipython_extension": "gradrepl.ipython",
    "unload_ipython_extension": "gradrepl.ipython",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'gradrepl' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = home if _HOMES[name] == f"gradrepl.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES})
