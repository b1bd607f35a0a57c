"""The prompt that goes through a backward pass: next, back, until ID, run, quit. Imports step's data, render."""

from __future__ import annotations

from typing import Any

HELP = "next (Enter), back, until ID, run (to the first nan or inf, or the end), first, list, quit"
AROUND = 8  # lines of the tree shown above and below the marked one


class Stepper:
    """One viewing of a walk; `read` and `write` are input and print, or stand-ins."""

    def __init__(self, walk: Any, read: Any, write: Any):
        self.walk, self.read, self.write = walk, read, write
        self.place = 0

    def run(self) -> None:
        if not self.walk.moves:
            self.write("there is nothing to step through")
            return
        self.show()
        while True:
            try:
                words = self.read(f"step {self.place + 1} of {len(self.walk)}> ").split()
            except EOFError:
                return
            command = self.command(words[0]) if words else self.next
            if command is None:
                self.write(HELP)
            elif command == self.quit:
                return
            else:
                command(*words[1:2]) if command == self.until else command()

    def command(self, word: str) -> Any:
        """The command that a word or its beginning means."""
        commands = {name: getattr(self, name) for name in ("next", "back", "until", "run_on", "first", "list", "quit")}
        return next((found for name, found in commands.items() if name.startswith(word)), None)

    def go(self, place: int) -> None:
        self.place = max(0, min(len(self.walk) - 1, place))
        self.show()

    def next(self) -> None:
        if self.place + 1 == len(self.walk):
            self.write("that was the last step; back, or quit")
        else:
            self.go(self.place + 1)

    def back(self) -> None:
        self.go(self.place - 1)

    def first(self) -> None:
        self.go(0)

    def until(self, id: str = "") -> None:
        try:
            self.go(self.walk.moves.index(self.walk.until(id)))
        except KeyError as error:
            self.write(error.args[0])

    def run_on(self) -> None:
        """Go on to the first move that is not finite, else to the end."""
        later = range(self.place + 1, len(self.walk))
        stop = next((place for place in later if not self.walk[place].finite), len(self.walk) - 1)
        self.go(stop)
        if not self.walk[stop].finite:
            self.write("stopped: a number that is not finite")

    def list(self) -> None:
        for move in self.walk:
            self.write(f"{'▶' if move is self.walk[self.place] else ' '} {move.number}. {move.title}")

    def quit(self) -> None:
        pass

    def show(self) -> None:
        move = self.walk[self.place]
        for line in marked_tree(self.walk.graph, move.node.id):
            self.write(line)
        self.write("")
        self.write(str(move))


def marked_tree(graph: Any, id: str) -> list[str]:
    """The lines of the tree round a node, which is marked."""
    from gradrepl.render.tree import Tree, plain

    lines = Tree(graph.drawn(fold=False)).lines()
    here = next((place for place, line in enumerate(lines) if line.id == id), 0)
    start, end = max(0, here - AROUND), min(len(lines), here + AROUND + 1)
    shown = [f"{'▶' if place == here else ' '} {plain(lines[place])}" for place in range(start, end)]
    return [*(["  …"] if start else []), *shown, *(["  …"] if end < len(lines) else [])]
