"""Draw the golden pictures, light and dark, as PNG beside this file.

    python screenshots/make_pictures.py [NAME ...] [--torch] [--to FOLDER]

By default on the embedded engine; --torch draws the same programs on an installed PyTorch.
"""

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def main():
    import gradrepl
    from gradrepl.insight.observer import observe
    from tests.render.golden import GOLDEN

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--to", type=Path, default=HERE / "graphs")
    options = parser.parse_args()
    torch = importlib.import_module("torch") if options.torch else gradrepl.torch
    options.to.mkdir(parents=True, exist_ok=True)
    sys.modules.setdefault("torch", torch)
    observe()  # so that the pictures tell the lines that wrote through views and that cut
    for program in GOLDEN:
        if not options.names or program.__name__ in options.names:
            y, names, look = program(torch)
            for theme in ("light", "dark"):
                print(gradrepl.save(y, options.to / f"{program.__name__}_{theme}.png", names=names, theme=theme, **look))


if __name__ == "__main__":
    main()
