import json

import pytest

from citations.errors import InvalidGold
from citations.evaluation.gold import MAX_LINES, MAX_RANGES, Gold, parse


def line(**changes: object) -> str:
    return json.dumps({"query": "what is entropy", "video": "abc", "gold": [[10, 20]]} | changes)


def without(name: str, **changes: object) -> str:
    row = json.loads(line(**changes))
    del row[name]
    return json.dumps(row)


def test_lines_name_a_query_a_source_and_its_ranges():
    gold = parse(
        line(qid="q1", by="people")
        + "\n\n"
        + without("video", source="s1", gold=[[0, 1.5], [3, 4]])
        + "\r\n"
    )

    assert list(gold.lines) == [
        Gold(query="what is entropy", source="abc", ranges=((10.0, 20.0),), line=1),
        Gold(query="what is entropy", source="s1", ranges=((0.0, 1.5), (3.0, 4.0)), line=3),
    ]


def test_pages_are_numbers_or_ranges():
    assert parse(without("gold", pages=[3, [5, 7]])).lines[0].pages == ((3, 3), (5, 7))


def test_files_may_begin_with_a_byte_order_mark_and_hold_unicode_line_separators():
    assert (
        parse(
            (
                "\ufeff"
                + json.dumps(
                    {"query": "a\u2028b", "video": "x", "gold": [[0, 1]]}, ensure_ascii=False
                )
            ).encode()
        )
        .lines[0]
        .query
        == "a\u2028b"
    )


@pytest.mark.parametrize(
    "bad",
    [
        "not json",
        "[1, 2]",
        "[" * 100_000,
        '{"query": ' + "9" * 5000 + "}",
        line(query=""),
        line(query=7),
        line(query="x" * 10_001),
        line(video=None),
        line(source="other"),
        line(video="x" * 501),
        without("video"),
        without("gold"),
        line(pages=[1]),
        line(gold=[]),
        line(gold={}),
        line(gold=[[1]]),
        line(gold=[[1, 2, 3]]),
        line(gold=[["1", "2"]]),
        line(gold=[[True, 2]]),
        line(gold=[[-1, 2]]),
        line(gold=[[2, 1]]),
        line(gold=[[2, 2]]),
        line(gold=[[0, float("nan")]]),
        line(gold=[[0, float("inf")]]),
        line(gold=[[0, 10**400]]),
        line(gold=[[0, 1]] * (MAX_RANGES + 1)),
        without("gold", pages=[0]),
        without("gold", pages=[1.5]),
        without("gold", pages=[[3, 2]]),
        without("gold", pages=[[1, 2, 3]]),
        without("gold", pages=["1"]),
    ],
)
def test_any_other_line_is_rejected_with_its_number_and_the_rest_is_used(bad):
    gold = parse(f"{line()}\n{bad}\n{line()}")

    assert [good.line for good in gold.lines] == [1, 3]
    (rejected,) = gold.rejected
    assert rejected.message.startswith("Line 2 ")
    assert rejected.hint


def test_bytes_that_are_no_utf8_are_rejected_alone_and_files_without_end_whole():
    gold = parse(line().encode() + b"\n\xff\n" + line().encode())
    assert len(gold.lines) == 2
    assert "Line 2 of the gold file cannot be used: it is not UTF-8." in str(gold.rejected[0])
    with pytest.raises(InvalidGold, match=r"Line 1 .* UTF-8"):
        parse(b"\xff")
    with pytest.raises(InvalidGold, match="lines"):
        parse("\n" * MAX_LINES)
