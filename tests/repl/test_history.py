"""The history file: private, shared, and never lost."""

import os
import stat
import subprocess
import sys
import threading

from gradrepl.repl.history import HistoryFile, entries

TEXTS = ["x = 1", "def f():\n    return '+'\n\n# not an entry", "", "\udc80 odd", "a\tb", "ünï"]


def test_entries_come_back(tmp_path):
    file = HistoryFile(str(tmp_path / "a" / "b" / "history"))
    for text in TEXTS:
        file.append(text)
    assert file.load() == [text.replace("\udc80", "?") for text in TEXTS]
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600


def test_a_broken_file_gives_what_can_be_read(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b"\xff\x00 nonsense\n+kept\n\n# x\n+also\n+kept")
    assert HistoryFile(str(path)).load() == ["kept", "also\nkept"]
    assert entries("") == []


def test_the_newest_are_kept(tmp_path):
    file = HistoryFile(str(tmp_path / "history"), kept=20)
    for number in range(30):
        file.append(f"x = {number}\ny")
    file.trim()
    assert file.load() == [f"x = {number}\ny" for number in range(10, 30)]
    assert HistoryFile(file.path, kept=1000).load() == file.load()
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600


def test_two_sessions_write_while_one_trims(tmp_path):
    path = str(tmp_path / "history")
    first, second = HistoryFile(path, kept=40), HistoryFile(path, kept=10_000)
    for number in range(50):
        first.append(f"old {number}")

    def write():
        for number in range(30):
            second.append(f"new {number}")

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(10):
        first.trim()
    writer.join()
    assert [text for text in second.load() if text.startswith("new")] == [f"new {number}" for number in range(30)]


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    file = HistoryFile(str(tmp_path / "file" / "history"))
    file.append("x")
    file.trim()
    assert "not saved" in file.failure and file.load() == []


def test_it_is_on_disk_before_the_input_runs(tmp_path):
    append = f"HistoryFile({str(tmp_path / 'h')!r}).append('x = 1')"
    code = f"import os; from gradrepl.repl.history import HistoryFile; {append}; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code])
    assert HistoryFile(str(tmp_path / "h")).load() == ["x = 1"]
