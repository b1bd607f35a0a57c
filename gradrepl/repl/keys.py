"""What the keys do at the prompt, beyond prompt_toolkit's own emacs and vi bindings."""

import re
import select

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, completion_is_selected, has_focus
from prompt_toolkit.filters import vi_navigation_mode as in_vi_navigation
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.bindings.completion import generate_completions
from prompt_toolkit.keys import Keys

from gradrepl.repl.paste import is_transcript, next_indent, wants_more

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
at_prompt = has_focus("DEFAULT_BUFFER")


@Condition
def in_indent() -> bool:
    """Only white space stands before the cursor on its line."""
    return not get_app().current_buffer.document.current_line_before_cursor.strip()


@Condition
def after_indent() -> bool:
    line = get_app().current_buffer.document.current_line_before_cursor
    return bool(line) and not line.strip() and line.endswith("    ")


def key_bindings() -> KeyBindings:
    keys = KeyBindings()
    keys.add("enter", filter=at_prompt & completion_is_selected)(accept_completion)
    keys.add("enter", filter=at_prompt & ~completion_is_selected)(enter)
    keys.add("c-j", filter=at_prompt & ~completion_is_selected)(enter)
    keys.add("escape", "enter", filter=at_prompt & ~in_vi_navigation)(run)
    keys.add("c-o", filter=at_prompt)(new_line)
    keys.add("tab", filter=at_prompt & in_indent)(indent)
    keys.add("tab", filter=at_prompt & ~in_indent)(generate_completions)
    keys.add("backspace", filter=at_prompt & after_indent)(outdent)
    keys.add("s-tab", filter=at_prompt & in_indent)(outdent)
    keys.add(Keys.BracketedPaste, filter=at_prompt)(paste)
    return keys


def accept_completion(event) -> None:
    event.current_buffer.complete_state = None


def enter(event) -> None:
    """Run a complete input, or start a new line with its indent."""
    buffer = event.current_buffer
    before, after = buffer.document.text_before_cursor, buffer.document.text_after_cursor
    if after.strip() and "\n" in buffer.text:
        return new_line(event)
    at_once = is_whole(buffer)
    if buffer.text.strip() and (wants_more(buffer.text, at_once=at_once) or continues(event, before)):
        if after:
            buffer.cursor_position = len(buffer.text)
        return new_line(event)
    run(event)


def is_whole(buffer) -> bool:
    """Whether the text came as a whole: pasted in one piece, or recalled from the history, and not changed since."""
    if buffer.text == getattr(buffer, "pasted_text", None):
        return True
    recalled = buffer.working_index < len(buffer._working_lines) - 1
    return recalled and buffer.text in buffer.history.get_strings()


def continues(event, before: str) -> bool:
    """Whether a block goes on after this empty line: what is already waiting, as in a paste not marked as one, is indented."""
    in_block = "\n" in before and not before.rpartition("\n")[2].strip()
    return in_block and waiting(event)[:1] in (" ", "\t")


def waiting(event) -> str:
    """The keys that have arrived and are not handled yet."""
    processor = event.key_processor
    if not processor.input_queue and readable(event.app.input):
        processor.feed_multiple(event.app.input.read_keys())
    return "".join(press.data for press in processor.input_queue if press.key != Keys.CPRResponse)


def readable(source) -> bool:
    try:
        return bool(select.select([source.fileno()], [], [], 0)[0])
    except (OSError, ValueError, NotImplementedError):
        return False


def run(event) -> None:
    """Run what is typed. A transcript is taken off the screen: the shell shows it again, with results of today."""
    event.app.erase_when_done = is_transcript(event.current_buffer.text)
    event.current_buffer.pasted_text = None
    event.current_buffer.validate_and_handle()


def new_line(event) -> None:
    """A new line, with an indent unless more text is on its way, which brings its own."""
    buffer = event.current_buffer
    buffer.insert_text("\n" if waiting(event) else "\n" + next_indent(buffer.document.text_before_cursor))


def indent(event) -> None:
    if waiting(event):
        return event.current_buffer.insert_text("\t")
    width = len(event.current_buffer.document.current_line_before_cursor)
    event.current_buffer.insert_text(" " * (4 - width % 4))


def outdent(event) -> None:
    width = len(event.current_buffer.document.current_line_before_cursor)
    if width:
        event.current_buffer.delete_before_cursor(count=(width - 1) % 4 + 1)


def paste(event) -> None:
    """Text pasted in one piece: inserted as it is, without terminal codes, and run by one Enter if it is complete."""
    buffer = event.current_buffer
    buffer.insert_text(CONTROLS.sub("", event.data.replace("\r\n", "\n").replace("\r", "\n")))
    buffer.pasted_text = buffer.text
