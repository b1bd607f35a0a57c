"""The line at the bottom: the engine, the grad mode, the last value and its graph, keys; or the signature of the call being typed."""

import sys

from gradrepl.repl.completion import hint

LOOKED_AT = 2_000  # characters before the cursor, in which a call may be open: this runs at every key


def toolbar(shell, session):
    """The text of the bottom line, as much of it as the terminal is wide."""
    width = session.output.get_size().columns
    text = session.default_buffer.document.text_before_cursor[-LOOKED_AT:]
    if shell.settings.signatures and "(" in text and (signature := hint(text, shell)):
        return [("class:bottom-toolbar", f" {signature}"[:width])]
    parts = [engine(shell), grad_mode()]
    if shell.printer.facts:
        parts.append(shell.printer.facts)
    text = " " + " │ ".join(parts)
    keys = "Tab complete  ^R search  ^D leave "
    if len(text) + len(keys) + 2 <= width:
        text += " " * (width - len(text) - len(keys)) + keys
    return [("class:bottom-toolbar", text[:width])]


def engine(shell) -> str:
    return "PyTorch" if shell.settings.engine == "torch" else "embedded"


def grad_mode() -> str:
    """The mode of this thread, once the engine is there."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "is_grad_enabled"):
        return "grad on"
    if torch.is_inference_mode_enabled():
        return "inference mode"
    return "grad on" if torch.is_grad_enabled() else "no grad"
