"""The objects of an answer, in every form in which model servers send them."""

import json

import pytest

from citations.providers.json_events import DONE, objects

FIRST, SECOND = {"a": "one"}, {"b": [1, {"c": "zwei"}]}
LINE, OTHER = json.dumps(FIRST), json.dumps(SECOND)


def _read(text: str) -> list[object]:
    return [
        data if data == DONE else json.loads(data) for data in objects(text.encode().split(b"\n"))
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"data: {LINE}\n\ndata: {OTHER}\n\ndata: [DONE]\n\n",
        f"data:{LINE}\n\ndata:{OTHER}\n\ndata:[DONE]",
        f"data: {LINE}\r\n\r\ndata: {OTHER}\r\n\r\ndata: [DONE]\r\n\r\n",
        f": a\nevent: x\nid: 7\ndata: {LINE}\n\nretry: 5\n: b\n\ndata: {OTHER}\n\ndata: [DONE]",
        f"\ufeffdata: {LINE}\ndata: {OTHER}\ndata: [DONE]",
        f'data: {{\ndata: "a": "one"}}\n\ndata: {OTHER}\n\n[DONE]',
    ],
)
def test_events_are_read_however_they_are_spaced(text: str) -> None:
    assert _read(text) == [FIRST, SECOND, DONE]


def test_lines_and_whole_objects_are_read() -> None:
    assert _read(f"{LINE}\n{OTHER}\n") == [FIRST, SECOND]
    assert _read(json.dumps(SECOND, indent=2)) == [SECOND]
    assert _read("") == []


def test_an_error_may_be_named_before_it() -> None:
    assert _read(f'error: {{"message": "full"}}\n\ndata: {LINE}') == [
        {"error": {"message": "full"}},
        FIRST,
    ]


def test_what_is_no_object_is_told_by_its_beginning_where_nothing_else_comes() -> None:
    assert list(objects([b": ping", b"<html>", b"x" * 5_000])) == [b"<html>\n" + b"x" * 1_993]
    assert _read(f"hello\n{LINE}") == [FIRST]


def test_what_is_cut_off_or_nested_without_end_is_given_as_it_is() -> None:
    assert list(objects([b'{"a": [1,'])) == [b'{"a": [1,\n']
    deep = b'{"a":' + b"[" * 50_000
    assert list(objects([deep])) == [deep + b"\n"]
