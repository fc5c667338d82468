"""Tables of `kb` at the width of a terminal."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from kbsite.cli import terminal
from kbsite.cli.terminal import GAP, MAIN, fitted

NATURAL = [11, 70, 24, 7, 9, 12, 20]  # an id, a title, and what else `kb list` shows
Width = Callable[..., io.StringIO]


@pytest.mark.parametrize("room", [60, 80, 100, 200])
def test_a_table_is_never_wider_than_the_terminal(room: int) -> None:
    widths = fitted(NATURAL, room, main=1)
    assert sum(widths.values()) + GAP * (len(widths) - 1) <= room
    assert widths[0] == 11
    assert widths[1] >= MAIN


def test_columns_at_the_right_are_left_out_before_the_main_one_is_unreadable() -> None:
    assert list(fitted(NATURAL, 60, main=1)) == [0, 1, 2, 3, 4]
    assert list(fitted(NATURAL, 80, main=1)) == [0, 1, 2, 3, 4, 5, 6]
    assert list(fitted(NATURAL, 10, main=1)) == [0, 1]


def test_a_first_column_that_is_no_id_is_cut_too() -> None:
    widths = fitted([90, 10, 10], 60, main=0)
    assert sum(widths.values()) + 2 * GAP <= 60
    assert widths[0] >= MAIN


@pytest.mark.parametrize("room", [60, 80, 100])
def test_a_very_long_id_is_cut_but_can_be_recognised(room: int) -> None:
    widths = fitted([190, *NATURAL[1:]], room, main=1)
    assert sum(widths.values()) + GAP * (len(widths) - 1) <= room
    assert widths[0] >= 36
    assert widths[1] >= MAIN


def test_an_id_is_whole_before_a_title_gets_room() -> None:
    assert fitted([36, 70, 24], 80, main=1)[0] == 36
    assert fitted([36, 70, 24], 45, main=1) == {0: 36, 1: 20}


def test_what_fits_is_not_cut() -> None:
    assert list(fitted(NATURAL, 200, main=1).values()) == NATURAL
    assert fitted([3, 4], 80, main=1) == {0: 3, 1: 4}


def test_the_main_column_gets_most_of_the_room() -> None:
    widths = fitted(NATURAL, 120, main=1)
    assert widths[1] > 2 * max(width for index, width in widths.items() if index > 1)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Width:
    """Print to a terminal of some width, or to a pipe."""

    def start(width: int, *, is_terminal: bool = True) -> io.StringIO:
        written = io.StringIO()
        console = Console(file=written, width=width, force_terminal=is_terminal, color_system=None)
        monkeypatch.setattr(terminal, "out", lambda: console)
        return written

    return start


ROW = ("dQw4w9WgXcQ", "A very long title, " * 6, "An evening school\nof patience", "1:02:03")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_row_is_one_line_of_a_terminal(shown: Width, width: int) -> None:
    written = shown(width)
    terminal.table(("ID", "Title", "Channel", "Length"), [ROW], main="Title")
    lines = written.getvalue().splitlines()
    assert len(lines) == 2
    assert all(len(line.rstrip()) <= width for line in lines)
    assert "dQw4w9WgXcQ" in lines[1]
    assert "…" in lines[1] or width == 200


def test_without_a_main_column_the_widest_keeps_most(shown: Width) -> None:
    written = shown(60)
    row = (7, "A short name", "This worker has died twenty times since it was started. " * 2)
    terminal.table(("Job", "Task", "Problem"), [row], title="Jobs")
    title, _, line = written.getvalue().splitlines()
    assert title == "Jobs"
    assert line.startswith("7    A short name  This worker has died")
    assert len(line) <= 60


def test_sentences_wrap_and_are_whole(shown: Width) -> None:
    written = shown(60)
    sentence = "None of these files has the name of a transcript or of a document."
    terminal.table_of_sentences(("Problem with", "Reason"), [("talk.zip", sentence)])
    lines = written.getvalue().splitlines()
    assert all(len(line.rstrip()) <= 60 for line in lines)
    assert " ".join(line.replace("talk.zip", "").strip() for line in lines[1:]) == sentence


def test_a_long_id_is_cut_in_a_terminal_and_whole_in_a_pipe(shown: Width) -> None:
    long = ("long-name-" * 19, *ROW[1:])
    written = shown(100)
    terminal.table(("ID", "Title", "Channel", "Length"), [long, ROW], main="Title")
    _, line, other = written.getvalue().splitlines()
    assert line.startswith(f"{long[0][:35]}…")
    assert other.startswith("dQw4w9WgXcQ ")
    assert len(line) <= 100
    written = shown(100, is_terminal=False)
    terminal.table(("ID", "Title", "Channel", "Length"), [long], main="Title")
    assert long[0] in written.getvalue()


def test_a_pipe_gets_no_row_padded_to_the_longest_title(shown: Width) -> None:
    written = shown(80, is_terminal=False)
    columns, short = ("ID", "Title", "Channel"), ("x1", "A short title", "School")
    terminal.table(columns, [short, ("x2", "A long title " * 30, "School")], main="Title")
    head, line, long = written.getvalue().splitlines()
    assert len(head) < 60
    assert len(line) < 60
    assert line.index("School") == head.index("Channel")
    assert long.endswith("long title  School")


def test_a_pipe_gets_every_cell_whole_and_each_row_as_one_line(shown: Width) -> None:
    written = shown(80, is_terminal=False)
    terminal.table(("ID", "Title", "Channel", "Length"), [ROW], main="Title")
    _, row = written.getvalue().splitlines()
    assert ROW[1].strip() in row
    assert "An evening school of patience" in row
    assert row.rstrip().endswith("1:02:03")
