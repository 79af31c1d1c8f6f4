"""Reading JSON lines: from where it ended, in bounded memory, whatever is in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.sleep.base import Position
from skillgit.sleep.sources.jsonl import BATCH_LINES, LONGEST, Line, read_lines, read_records, stamp

DEEP = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"


def read(file: Path, since: Position | None = None) -> tuple[list[dict[str, Any]], Position, dict[str, int]]:
    parts = list(read_lines(file, since))
    damaged: Counter[str] = Counter()
    for part in parts:
        damaged.update(part.damaged)
    return [line.value for part in parts for line in part.lines], parts[-1].position, dict(damaged)


def numbered(*numbers: int) -> bytes:
    return b"".join(b'{"n":%d}\n' % number for number in numbers)


def of(values: list[dict[str, Any]]) -> list[int]:
    return [value["n"] for value in values]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def test_reading_goes_on_where_it_ended(file: Path) -> None:
    file.write_bytes(numbered(1, 2))
    first, position, _ = read(file)
    with file.open("ab") as stream:
        stream.write(numbered(3))
    second, _, _ = read(file, position)
    assert (of(first), of(second)) == ([1, 2], [3])


def test_a_file_longer_than_its_known_beginning_goes_on_too(file: Path) -> None:
    file.write_bytes(numbered(*range(1000)))
    _, position, _ = read(file)
    with file.open("ab") as stream:
        stream.write(numbered(1000))
    assert of(read(file, position)[0]) == [1000]


def test_an_unfinished_last_line_is_left_for_the_next_time_and_is_no_damage(file: Path) -> None:
    file.write_bytes(numbered(1) + b'{"n":')
    first, position, damaged = read(file)
    assert (of(first), damaged) == ([1], {})
    with file.open("ab") as stream:
        stream.write(b"2}\n")
    assert of(read(file, position)[0]) == [2]


def test_a_whole_last_line_without_an_end_is_read_once(file: Path) -> None:
    file.write_bytes(numbered(1) + b'{"n":2}')
    first, position, _ = read(file)
    with file.open("ab") as stream:
        stream.write(b"\n" + numbered(3))
    second, _, damaged = read(file, position)
    assert (of(first), of(second), damaged) == ([1, 2], [3], {})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda file: file.write_bytes(numbered(7, 8, 9)), id="written anew in place, and longer"),
        pytest.param(lambda file: file.write_bytes(numbered(7)), id="cut"),
        pytest.param(lambda file: file.write_bytes(b""), id="emptied"),
        pytest.param(lambda file: (file.rename(f"{file}.1"), file.write_bytes(numbered(1, 2, 7))), id="rotated"),
        pytest.param(
            lambda file: (Path(f"{file}.new").write_bytes(numbered(1, 7)), Path(f"{file}.new").replace(file)),
            id="replaced by another file",
        ),
    ],
)
def test_another_file_under_the_name_is_read_from_its_start(file: Path, change: Any) -> None:
    file.write_bytes(numbered(1, 2))
    _, position, _ = read(file)
    change(file)
    assert of(read(file, replace(position, state={"old": 1}))[0]) == of(read(file)[0])
    assert not list(read_lines(file, replace(position, state={"old": 1})))[-1].position.state


def test_a_change_late_in_what_was_read_is_seen(file: Path) -> None:
    file.write_bytes(numbered(*range(10_000)))
    _, position, _ = read(file)
    file.write_bytes(numbered(*range(9_999), 5000, 6000))
    assert len(read(file, position)[0]) == 10_001


def test_what_is_replaced_while_it_is_read_is_read_again(file: Path) -> None:
    file.write_bytes(numbered(*range(3 * BATCH_LINES)))
    reading = read_lines(file, None)
    next(reading)
    file.write_bytes(numbered(*range(10_000, 10_000 + 3 * BATCH_LINES)))
    *_, last = reading
    assert last.position.stamp != stamp(file)
    assert of(read(file, last.position)[0]) == [*range(10_000, 10_000 + 3 * BATCH_LINES)]


def test_a_stamp_is_given_only_with_the_end_of_the_file(file: Path) -> None:
    file.write_bytes(numbered(*range(2 * BATCH_LINES + 1)))
    assert [part.position.stamp for part in read_lines(file, None)] == ["", "", stamp(file)]


def test_reading_from_any_part_gives_the_rest(file: Path) -> None:
    file.write_bytes(numbered(*range(2 * BATCH_LINES + 5)))
    parts = list(read_lines(file, None))
    for done in range(len(parts)):
        rest = [line.value["n"] for part in parts[done + 1 :] for line in part.lines]
        assert of(read(file, parts[done].position)[0]) == rest


def test_an_unchanged_file_gives_its_position_again(file: Path) -> None:
    file.write_bytes(numbered(1))
    _, position, _ = read(file)
    assert read(file, position) == ([], position, {})


def test_a_stamp_changes_with_the_file(file: Path) -> None:
    file.write_bytes(numbered(1))
    first = stamp(file)
    with file.open("ab") as stream:
        stream.write(numbered(2))
    assert stamp(file) != first


def test_a_missing_file_is_an_os_error(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_lines(file, None))
    with pytest.raises(FileNotFoundError):
        stamp(file)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_a_file_that_vanishes_while_it_is_read_gives_what_was_there(file: Path) -> None:
    file.write_bytes(numbered(*range(3 * BATCH_LINES)))
    reading = read_lines(file, None)
    next(reading)
    file.unlink()
    assert sum(len(part.lines) for part in reading) == 2 * BATCH_LINES


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"null\n", "not an object"),
        (b"[1]\n", "not an object"),
        (b"5\n", "not an object"),
        (b'"text"\n', "not an object"),
        (b"false\n", "not an object"),
        (b"{not json}\n", "json"),
        (b'{"n":1}{"n":2}\n', "json"),
        (DEEP, "nested"),
    ],
)
def test_a_damaged_line_is_counted_and_costs_itself_alone(file: Path, line: bytes, kind: str) -> None:
    file.write_bytes(numbered(1) + line + numbered(2))
    values, _, damaged = read(file)
    assert (of(values), damaged) == ([1, 2], {kind: 1})


@pytest.mark.parametrize(
    ("line", "text", "damaged"),
    [
        (b'{"n":1,"t":"caf\xe9"}\n', "caf\N{REPLACEMENT CHARACTER}", {"encoding": 1}),
        (b"\0" * 999 + b'{"n":1,"t":"x"}\n', "x", {"nul": 1}),
        (b'\xef\xbb\xbf{"n":1,"t":"x"}\n', "x", {}),
        (b'{"n":1,"t":"a\\ud800b"}\n', "a\N{REPLACEMENT CHARACTER}b", {}),
        (b'{"n":1,"t":"\\uDFFF"}\n', "\N{REPLACEMENT CHARACTER}", {}),
        (b'{"n":1,"t":"\\ud83d\\ude00"}\n', "\N{GRINNING FACE}", {}),
        (b'{"n":1,"t":"x","big":' + b"9" * 5000 + b"}\n", "x", {}),
        (b'  {"n":1,"t":"x"} \r\n', "x", {}),
    ],
)
def test_what_can_be_repaired_is_kept(file: Path, line: bytes, text: str, damaged: dict[str, int]) -> None:
    file.write_bytes(line + b"\n\n" + numbered(2))
    values, _, counted = read(file)
    assert (values[0]["t"], of(values), counted) == (text, [1, 2], damaged)
    json.dumps(values[0], ensure_ascii=False).encode()


def test_a_line_longer_than_any_record_is_skipped_and_counted(file: Path) -> None:
    long = b'{"n":1,"t":"' + b"x" * LONGEST + b'"}\n'
    file.write_bytes(numbered(0) + long + numbered(2))
    values, position, damaged = read(file)
    assert (of(values), damaged) == ([0, 2], {"too long": 1})
    assert read(file, position)[0] == []


def test_a_line_of_the_greatest_length_is_read(file: Path) -> None:
    start, end = b'{"n":1,"t":"', b'"}\n'
    file.write_bytes(start + b"x" * (LONGEST - len(start) - len(end)) + end + numbered(2))
    assert (of(read(file)[0]), read(file)[2]) == ([1, 2], {})


def test_an_endless_unfinished_line_is_left_alone(file: Path) -> None:
    file.write_bytes(numbered(1) + b"x" * (LONGEST + 5))
    values, position, damaged = read(file)
    assert (of(values), damaged, position.offset) == ([1], {}, len(numbered(1)))


@pytest.mark.skipif(os.name == "nt", reason="its peak is not told there")
def test_memory_does_not_grow_with_the_file(file: Path) -> None:
    line = b'{"n":1,"t":"' + b"0123456789" * 10_000 + b'"}\n'
    with file.open("wb") as stream:
        for _ in range(1200):
            stream.write(line)
    program = (
        "import resource, sys; from pathlib import Path; from skillgit.sleep.sources.jsonl import read_lines\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sum(len(part.lines) for part in read_lines(Path(sys.argv[1]), None)),"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True)
    lines, grown = map(int, done.stdout.split())
    assert lines == 1200
    assert grown < 60_000 * (1024 if sys.platform == "darwin" else 1), "kilobytes, for a file of 120 MB"


def test_state_is_kept_with_the_position_and_a_caller_s_is_not_changed(file: Path) -> None:
    def understand(line: Line, state: dict[str, Any]) -> list[Any]:
        state.setdefault("seen", []).append(line.value["n"])
        return []

    file.write_bytes(numbered(*range(BATCH_LINES), 1))
    first, second = list(read_records(file, None, understand))
    assert first.position.state["seen"] == [*range(BATCH_LINES)]
    *_, again = read_records(file, first.position, understand)
    assert again.position == second.position
    assert len(first.position.state["seen"]) == BATCH_LINES


def test_keys_of_lines_without_an_id_tell_two_alike_apart_only_without_a_time(file: Path) -> None:
    file.write_bytes(numbered(1, 1))
    first, second = next(read_lines(file, None)).lines
    assert first.key("s", timed=True) == second.key("s", timed=True) != first.key("t", timed=True)
    assert first.key("s", timed=False) != second.key("s", timed=False)


LINES = st.lists(
    st.one_of(
        st.dictionaries(st.text(max_size=3), st.text(max_size=8) | st.integers(), max_size=3).map(
            lambda value: json.dumps(value).encode()
        ),
        st.binary(max_size=12).map(lambda raw: raw.translate(None, b"\n}")),  # no object with something after it
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(lines=LINES, cuts=st.lists(st.integers(0, 400), max_size=4))
def test_a_file_that_grows_by_any_pieces_gives_what_it_gives_as_a_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int]
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    file = tmp_path_factory.mktemp("grow") / "a.jsonl"
    file.write_bytes(data)
    whole = read(file)[0]
    file.write_bytes(b"")
    grown, position = [], None
    for end in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        with file.open("ab") as stream:
            stream.write(data[stream.tell() : end])
        values, position, _ = read(file, position)
        grown += values
    assert grown == whole
