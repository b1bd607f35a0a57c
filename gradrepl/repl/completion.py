"""What Tab offers: names, attributes, dict keys, file paths, keyword arguments, imports, commands. Runs no code of the user's."""

import builtins
import glob
import inspect
import keyword
import os
import re
import sys
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from gradrepl.repl.lookup import Known, OfType, attribute_names, getattr_dict, is_instance, lookup, signature, signature_text, stored

CLOSERS = {")": "(", "]": "[", "}": "{"}
IMPORT = re.compile(r"(?:^|;)\s*(?:import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*|from\s+)([\w.]*)$")
IMPORT_FROM = re.compile(r"(?:^|;)\s*from\s+([\w.]+)\s+import\s+\(?(?:[\w\s,]*,\s*)?(\w*)$")
JEDI_LIMIT = 0.4
COMMENT = -1
MODULES = {"torch", "nn", "F", "np"}


class Found(NamedTuple):
    """A candidate: its text, how many characters before the cursor it replaces, and what the menu shows beside it."""

    text: str
    replaces: int
    shown: str = ""
    meta: str = ""


def complete(text: str, shell) -> list[Found]:
    """The candidates at the end of the text."""
    line = text.rpartition("\n")[2]
    if text.startswith("%"):
        from gradrepl.repl.commands import complete_command

        return complete_command(text, shell)
    names = visible_names(shell)
    quote = open_string(text)
    if quote == COMMENT:
        return []
    if quote is not None:
        return in_string(text, quote, names)
    if (statement := IMPORT_FROM.search(line)) or IMPORT.search(line):
        return imports(statement, line)
    if dotted := re.search(r"\.\s*(\w*)$", text):
        return attributes(primary_before(text[: dotted.start()]), dotted[1], names)
    return plain_names(text, names, shell)


def visible_names(shell) -> dict[str, Any]:
    """The namespace, and the preloaded names that nobody has used yet."""
    shell.preloaded.put_all(MODULES)
    return {**dict.fromkeys(shell.preloaded.waiting), **shell.namespace}


def matching(candidates: Iterable[str], prefix: str, owner: Any = None) -> list[Found]:
    """Those that start with the prefix; private names only where the prefix is private."""
    hidden = "__" if prefix.startswith("_") and not prefix.startswith("__") else "_" if not prefix else None
    names = [name for name in dict.fromkeys(candidates) if name.startswith(prefix) and not (hidden and name.startswith(hidden))]
    return [Found(name, len(prefix), meta=meta(owner, name) if owner and len(names) < 200 else "") for name in sorted(names, key=order)]


def order(name: str) -> tuple[bool, str, str]:
    return name.startswith("_"), name.lower(), name


def meta(owner: Known | OfType, name: str) -> str:
    """One word on an attribute, for the menu."""
    try:
        found = stored(owner.value, name) if isinstance(owner, Known) else None
    except Exception:
        return ""  # the menu is there to look, whatever a strange object does
    if not isinstance(found, Known):
        return ""
    return "function" if callable(found.value) and not isinstance(found.value, type) else type(found.value).__name__


def attributes(expression: str, prefix: str, names: dict[str, Any]) -> list[Found]:
    owner = lookup(expression, names) if not expression.isdigit() else None
    return matching(attribute_names(owner), prefix, owner) if owner else []


def plain_names(text: str, names: dict[str, Any], shell) -> list[Found]:
    word = re.search(r"\w*$", text)
    prefix = word[0] if word else ""
    if prefix[:1].isdigit():
        return []
    found = keyword_arguments(text, prefix, names)
    found += matching([*names, *keyword.kwlist, *keyword.softkwlist, *dir(builtins)], prefix)
    return found or (jedi_names(text, prefix, shell) if prefix else [])


def keyword_arguments(text: str, prefix: str, names: dict[str, Any]) -> list[Found]:
    """`name=` for the parameters of the function whose call is being typed."""
    call = call_around(text) if not text[: len(text) - len(prefix)].rstrip().endswith(("=", ".")) else ""
    function = called(call, names)
    known = signature(*function) if function else None
    if known is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    words = [name for name, parameter in known.parameters.items() if parameter.kind in kinds and name.startswith(prefix)]
    return [Found(f"{word}=", len(prefix), meta="argument") for word in words if word != "self"]


def in_string(text: str, start: int, names: dict[str, Any]) -> list[Found]:
    """Keys of the dict that is being indexed, else file paths."""
    inside = text[start:].lstrip("rbfuRBFU").lstrip("\"'")
    quote = text[len(text) - len(inside) - 1]
    before = text[:start].rstrip()
    if before.endswith("["):
        owner = lookup(primary_before(before[:-1]), names)
        keys = mapping_keys(owner.value) if isinstance(owner, Known) else []
        return [Found(key, len(inside)) for key in keys if key.startswith(inside) and quote not in key]
    return paths(inside)


def mapping_keys(value: Any) -> list[str]:
    """The text keys of a dict; of a dict-like object only those it stores in a plain dict."""
    if not isinstance(value, dict):
        value = next((part for part in getattr_dict(value).values() if type(part) is dict), {})
    return [key for key in dict.keys(value) if isinstance(key, str)]


def paths(prefix: str) -> list[Found]:
    """Files and folders; the candidate is the last part, so that the menu stays narrow."""
    if "\0" in prefix or "\n" in prefix:
        return []
    folder, _, name = prefix.rpartition("/")
    matches = sorted(glob.iglob(glob.escape(os.path.expanduser(prefix)) + "*"))[:500]
    found = [os.path.basename(match) + ("/" if os.path.isdir(match) else "") for match in matches]
    return [Found(match, len(name)) for match in found]


def imports(statement: re.Match | None, line: str) -> list[Found]:
    if statement:
        module = sys.modules.get(statement[1]) or imported_engine(statement[1])
        names = attribute_names(Known(module)) if module else []
        return matching([*names, *submodules(statement[1])], statement[2])
    match = IMPORT.search(line)
    parent, dot, prefix = match[1].rpartition(".") if match else ("", "", "")
    return matching(submodules(parent) if dot else top_modules(), prefix)


def imported_engine(name: str) -> Any:
    """One of the engine's own modules, imported to see its names; no other module is."""
    if name.partition(".")[0] not in ("torch", "gradrepl"):
        return None
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def top_modules() -> list[str]:
    import pkgutil

    return [*sys.stdlib_module_names, "torch", *(module.name for module in pkgutil.iter_modules())]


def submodules(name: str) -> list[str]:
    import pkgutil

    module = sys.modules.get(name) or imported_engine(name)
    return [found.name for found in pkgutil.iter_modules(getattr(module, "__path__", []))]


def open_string(text: str) -> int | None:
    """Where the string that is still open at the end of the text begins, None for none, COMMENT inside a comment."""
    place, start, quote = 0, 0, ""
    while place < len(text):
        if quote:
            if text[place] == "\\":
                place += 1
            elif text.startswith(quote, place) or len(quote) == 1 and text[place] == "\n":
                place, quote = place + len(quote) - 1, ""
        elif text[place] == "#":
            end = text.find("\n", place)
            if end < 0:
                return COMMENT
            place = end
        elif text[place] in "\"'":
            quote = text[place] * 3 if text.startswith(text[place] * 3, place) else text[place]
            start = place - len(re.search(r"[rbfuRBFU]*$", text[max(0, place - 2) : place])[0])  # type: ignore[index]
            place += len(quote) - 1
        place += 1
    return start if quote else None


def primary_before(text: str) -> str:
    """The expression that ends the text: a name with its attributes, indices and calls, or a bracket or string.

    >>> primary_before("y = f(a.b[0]")
    'a.b[0]'
    """
    end = place = len(text.rstrip())
    while place:
        character = text[place - 1]
        if character in CLOSERS:
            place = opening(text, place - 1)
            if place < 0:
                return ""
        elif character.isidentifier() or character.isdigit() or character == ".":
            place -= 1
        elif character in "\"'" and place == end:
            place = string_start(text, place)
        else:
            break
    return text[place:end]


def opening(text: str, closer: int) -> int:
    """The place of the bracket that this one closes, -1 for none."""
    depth = 0
    for place in range(closer, -1, -1):
        if text[place] in CLOSERS:
            depth += 1
        elif text[place] in "([{":
            depth -= 1
            if not depth:
                return place
    return -1


def string_start(text: str, end: int) -> int:
    start = text.rfind(text[end - 1], 0, end - 1)
    return start if start >= 0 else end - 1


def call_around(text: str) -> str:
    """The function of the innermost call that is open at the end of the text, as an expression; empty for none."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        if text[place] in CLOSERS:
            depth += 1
        elif text[place] in "([{":
            if not depth:
                return primary_before(text[:place]) if text[place] == "(" else ""
            depth -= 1
    return ""


def jedi_names(text: str, prefix: str, shell) -> list[Found]:
    """What jedi finds in the text itself: names of an unfinished function. Only where jedi is installed, and within a time limit."""
    result: list[Found] = []

    def ask() -> None:
        try:
            import jedi

            # the environment of this process: the default one would start another Python
            script = jedi.Script(shell.session.text() + text, environment=jedi.InterpreterEnvironment())
            result.extend(Found(name.name, len(prefix), meta=name.type) for name in script.complete())
        except Exception:
            return  # not installed, or at a loss with unfinished code: there is nothing more to offer

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(JEDI_LIMIT)
    return list(result)


def hint(text: str, shell) -> str:
    """The signature of the function whose call is being typed."""
    call = call_around(text) if "(" in text and open_string(text) != COMMENT else ""
    function = called(call, shell.namespace)
    return function.name + signature_text(*function) if function else ""


class Called(NamedTuple):
    """A function, what it is called here, and whether it is bound to an object."""

    value: Any
    name: str
    bound: bool


def called(expression: str, names: dict[str, Any]) -> Called | None:
    function = lookup(expression, names) if expression else None
    if not isinstance(function, Known) or not callable(function.value):
        return None
    before, _, name = expression.rpartition(".")
    return Called(function.value, name, is_instance(lookup(before, names) if before else None))
