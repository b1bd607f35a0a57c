"""Shows a Graph at the prompt: a picture where the terminal can, elsewhere its tree and the path of a file with the picture."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from itertools import count

from gradrepl.repl.printer import draw

numbers = count(1)


def show_graph(graph, settings, stream) -> None:
    from gradrepl.render.inline import encoded, protocol

    wish = {} if settings.images == "auto" else {"GRADREPL_IMAGES": settings.images}
    known = protocol(stream, {**os.environ, **wish})
    if known:
        from gradrepl.render.files import png

        theme = settings.theme if settings.theme in ("dark", "light") else graph.look.theme
        stream.write(encoded(png(graph.drawn(theme=theme)), known))
        return
    draw(graph, stream, settings)
    path = os.path.join(folder(), f"graph-{next(numbers)}.svg")
    stream.write(f"picture: {graph.save(path)}\n")


@cache
def folder() -> str:
    """Where this session puts pictures nobody has named: a private folder that goes when the session ends."""
    made = tempfile.mkdtemp(prefix="gradrepl-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made
