"""Bibliographies: what is written is read back by the parser of BibTeX, whatever a title holds."""

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from citations.notebook.bibliography import Work, bibtex, csl, keys

TALK = Work(
    id="1",
    type="motion_picture",
    title="Back-propagation: 100 % of {what} you need & more",
    author="Ada's Channel",
    url="https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    language="en",
    published=date(2024, 3, 1),
    accessed=date(2026, 11, 21),
    places=("0:05–0:10", ""),
    quotes=("It carries the error.", "Each weight\nmoves."),
)


def read(text: str) -> str:
    """Return what LaTeX shows of a field."""
    names = ("backslash", "asciitilde", "asciicircum", "braceleft", "braceright")
    marks = dict(zip(names, "\\~^{}", strict=True))
    plain = re.sub(rf"\\text({'|'.join(names)})\{{\}}", lambda match: marks[match[1]], text)
    return re.sub(r"\\([&%$#_])", r"\1", plain)


def test_a_work_is_an_item_of_csl() -> None:
    assert csl([TALK]) == [
        {
            "id": "ada2024back",
            "type": "motion_picture",
            "title": TALK.title,
            "author": [{"literal": "Ada's Channel"}],
            "issued": {"date-parts": [[2024, 3, 1]]},
            "accessed": {"date-parts": [[2026, 11, 21]]},
            "URL": TALK.url,
            "language": "en",
            "note": "0:05–0:10: “It carries the error.”; “Each weight moves.”",
        }
    ]
    assert csl([Work(id="2", type="document", title="Notes")]) == [
        {"id": "notes", "type": "document", "title": "Notes"}
    ]


def test_a_work_is_an_entry_of_bibtex() -> None:
    (entry,) = parse_string(bibtex([TALK]), "bibtex").entries.values()
    assert entry.type == "misc"
    assert entry.key == "ada2024back"
    assert read(entry.fields["title"]) == "{" + TALK.title + "}"
    assert entry.persons["author"][0].last_names == ["{Ada's Channel}"]
    about = {name: entry.fields[name] for name in ("year", "month", "url", "urldate")}
    assert about == {"year": "2024", "month": "3", "url": TALK.url, "urldate": "2026-11-21"}


def test_works_of_one_name_are_told_apart() -> None:
    works = [
        Work(id=str(n), type="document", title=title)
        for n, title in enumerate(["Notes", "Notes", "Notes a", "notesa", "", "日本", "Notes"])
    ]
    made = keys(works)
    assert made[:2] == ["notes", "notesa"]
    assert len(set(made)) == len(made)
    assert len(parse_string(bibtex(works), "bibtex").entries) == len(works)


def test_many_works_of_one_name_have_short_keys() -> None:
    made = keys([Work(id=str(n), type="document", title="Notes") for n in range(700)])
    assert len(set(made)) == 700
    assert max(map(len, made)) <= len("notes") + 2


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/{b}",
        'https://a.example/"b',
        "https://a.example/ b\\c",
        "https://a.example/\n}@misc{x,",
    ],
)
def test_no_address_ends_its_field(url: str) -> None:
    (entry,) = parse_string(
        bibtex([Work(id="1", type="webpage", title="A", url=url)]), "bibtex"
    ).entries.values()
    assert entry.fields["url"].startswith("https://a.example/")
    assert not set(entry.fields["url"]) & set('{}"\\ \n')


hostile = st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.sampled_from("{}\\%&$#_~^@\",=\n'“”"),
    max_size=60,
)


@given(title=hostile, author=hostile, quote=hostile)
def test_whatever_a_work_is_called_its_entry_is_read_back(
    title: str, author: str, quote: str
) -> None:
    work = replace(TALK, title=title, author=author, places=("page 1",), quotes=(quote,))
    entry, _ = parse_string(bibtex([work, work]), "bibtex").entries.values()
    assert " ".join(read(entry.fields["title"])[1:-1].split()) == " ".join(title.split())
    assert " ".join(read(entry.fields["note"]).split()) == " ".join(
        f"page 1: “{' '.join(quote.split())}”".split()
    )
