"""The configuration: defaults, `config.toml`, the command line. Imports the standard library only, tomllib where there is a file."""

import os
import sys
from typing import Any

# setting -> (default, the values it may have or their type, what it does)
SETTINGS: dict[str, tuple[Any, Any, str]] = {
    "theme": ("auto", ("auto", "dark", "light", "none"), "colours: auto, dark, light or none"),
    "keys": ("emacs", ("emacs", "vi"), "editing keys: emacs or vi"),
    "engine": ("embedded", ("embedded", "torch"), "what `import torch` gives: embedded or torch"),
    "info": (False, bool, "a line with shape, dtype and grad_fn under each result"),
    "toolbar": (True, bool, "the line at the bottom"),
    "suggestions": (True, bool, "the rest of a matching earlier input, in grey; Right takes it"),
    "signatures": (True, bool, "the signature of the function whose call is being typed"),
    "images": ("auto", ("auto", "kitty", "iterm", "none"), "pictures inside the terminal: auto, kitty, iterm or none"),
    "history": (10_000, int, "how many inputs the history file keeps, 0 for none"),
    "editor": ("", str, "what %edit opens, before $VISUAL, $EDITOR and vi"),
}


class Settings:
    """The settings as attributes, and the warnings that reading them gave."""

    theme: str
    keys: str
    engine: str
    info: bool
    toolbar: bool
    suggestions: bool
    signatures: bool
    images: str
    history: int
    editor: str

    def __init__(self, **values: Any):
        self.warnings: list[str] = []
        for name, (default, _, _) in SETTINGS.items():
            setattr(self, name, values.get(name, default))

    def take(self, name: str, value: Any, source: str) -> None:
        """Set one, or warn where there is no such setting or value."""
        if name not in SETTINGS:
            self.warnings.append(f"{source}: no setting {name!r}{nearest(name, SETTINGS)}")
        elif not is_valid(value, SETTINGS[name][1]):
            self.warnings.append(f"{source}: {name} is {value!r}, but may be {described(SETTINGS[name][1])}")
        else:
            setattr(self, name, value)


def is_valid(value: Any, allowed: Any) -> bool:
    return value in allowed if isinstance(allowed, tuple) else type(value) is allowed


def described(allowed: Any) -> str:
    return ", ".join(allowed) if isinstance(allowed, tuple) else {bool: "true or false", int: "a whole number", str: "a text"}[allowed]


def nearest(word: str, words) -> str:
    """`; did you mean 'x'?`, or nothing where no word is near."""
    import difflib

    matches = difflib.get_close_matches(word, list(words), n=1, cutoff=0.5)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def load_settings(options=None) -> Settings:
    """Read `config.toml`, then what the command line and the environment say. A broken file is one warning."""
    settings = Settings()
    if options is None or options.config:
        read_file(settings, os.path.join(config_folder(), "config.toml"))
    for name in ("theme", "keys", "engine"):
        if options is not None and getattr(options, name):
            settings.take(name, getattr(options, name), f"--{name}")
    if images := os.environ.get("GRADREPL_IMAGES"):
        settings.take("images", images, "GRADREPL_IMAGES")
    return settings


def read_file(settings: Settings, path: str) -> None:
    if not os.path.exists(path):
        return
    import tomllib

    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except (OSError, ValueError) as error:
        settings.warnings.append(f"{path}: {error}; going on without it")
        return
    for name, value in values.items():
        settings.take(name, value, path)


def config_folder() -> str:
    return xdg("XDG_CONFIG_HOME", ".config")


def state_folder() -> str:
    return xdg("XDG_STATE_HOME", os.path.join(".local", "state"))


def xdg(variable: str, default: str) -> str:
    """A folder of this program by the XDG rules; a relative path in the variable counts as none."""
    root = os.environ.get(variable, "")
    return os.path.join(root if os.path.isabs(root) else os.path.join(os.path.expanduser("~"), default), "gradrepl")


def warn(text: str) -> None:
    if sys.stderr is not None:
        print(f"gradrepl: {text}", file=sys.stderr)
