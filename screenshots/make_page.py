"""Photograph the web page of a graph in headless Chromium, light, dark and on a phone: PNG files beside this one.

python screenshots/make_page.py
"""

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync --hide-scrollbars".split()
SHOTS = {  # name -> (size of the window, what is done on the page first)
    "page_light": ("1180,760", "root.classList.add('light'); choose('n7')"),
    "page_dark": ("1180,760", "root.classList.add('dark'); step(5)"),
    "page_phone": ("500,900", "root.classList.add('light'); choose('n2')"),
}


def graph():
    import gradrepl
    from gradrepl.graphs import BackwardStep
    from tests.render import golden

    gradrepl.torch.manual_seed(0)
    loss, names, _ = golden.mlp(gradrepl.torch)
    found = gradrepl.graph(loss, names=names, values=True)
    steps = [BackwardStep(node.id, node.title, (f"gradient {node.outputs[0].shape}",)) for node in found.nodes]
    return dataclasses.replace(found, steps=tuple(steps))


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        graph().save(page)
        text = page.read_text(encoding="utf-8")
        for name, (size, script) in SHOTS.items():
            page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
            options = [f"--user-data-dir={folder}/{name}", f"--window-size={size}", f"--screenshot={HERE / 'graphs' / name}.png"]
            subprocess.run([chromium, *FLAGS, *options, page.as_uri()], capture_output=True, timeout=60, check=True)
            print(HERE / "graphs" / f"{name}.png")


if __name__ == "__main__":
    main()
