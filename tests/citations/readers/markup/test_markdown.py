"""Markdown as notebooks and forges write it is read as they show it; formulas stay TeX."""

from pathlib import Path
from time import perf_counter

import pytest

from citations.readers.markup.markdown import without_comments
from citations.readers.markup.reader import read_markdown
from citations.readers.pagination import OpenDocument


def opened(folder: Path, text: str) -> OpenDocument:
    path = folder / "file.md"
    path.write_text(text)
    return read_markdown(path, most_pages=10)


def read(folder: Path, text: str) -> str:
    return "\n\n".join(page.text for page in opened(folder, text).pages)


def test_front_matter_is_yaml_of_any_style(tmp_path: Path) -> None:
    text = (
        "---\n# made by hand\ntitle: >\n  Tides of\n  the north\nauthors:\n  - name: Ada Quay\n"
        "  - Ben Mole\nlang: no\ntags: [sea, moon]\ndate: 2026-05-03\n...\nWords.\n"
    )
    facts = opened(tmp_path, text).facts
    assert (facts.title, facts.author) == ("Tides of the north", "Ada Quay, Ben Mole")
    assert (facts.language, facts.published) == ("no", "2026-05-03")
    assert read(tmp_path, text) == "Words."


@pytest.mark.parametrize(
    "between",
    [
        "\nThe first words.\n",
        "The first words.",
        "- The first words.",
        "first: [words",
        "- " * 9_000,
    ],
)
def test_what_stands_between_two_rules_and_is_no_mapping_is_text(
    tmp_path: Path, between: str
) -> None:
    text = read(tmp_path, f"---\n{between}\n---\n\nAnd more.")
    assert "words" in text or "words" not in between
    assert text.endswith("And more.")


@pytest.mark.parametrize(
    "formula",
    [
        "$u*v*w$",
        r"$\{t \mid t < 0\}$",
        r"$\|z\|_1$",
        "$$k_1*k_2*k_3$$",
        r"\(p*q*r\)",
        r"\[w = \begin{matrix} 7 \\ 8 \end{matrix}\]",
    ],
)
def test_a_formula_within_a_paragraph_stays_as_it_is_written(tmp_path: Path, formula: str) -> None:
    assert read(tmp_path, f"The *form* {formula} holds.") == f"The form {formula} holds."


def test_a_formula_in_a_cell_stays_as_it_is_written(tmp_path: Path) -> None:
    assert read(tmp_path, "| form |\n|---|\n| $u*v*w$ |") == "form\n$u*v*w$"


@pytest.mark.parametrize(("opening", "closing"), [("$$", "$$"), (r"\[", r"\]")])
def test_a_displayed_formula_keeps_its_lines(tmp_path: Path, opening: str, closing: str) -> None:
    formula = f"{opening}\nu_1*u_2\n= \\begin{{matrix}} 7 \\\\ 8\n- 9 & b < c\n{closing}"
    assert read(tmp_path, f"Above:\n{formula}\n\nBelow.") == f"Above:\n\n{formula}\n\nBelow."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\[1\] Quay, A. *Tides*.", "[1] Quay, A. Tides."),
        (r"See \[edit\] and 5 \[m\].", "See [edit] and 5 [m]."),
        (r"A line \\(not a formula\\).", r"A line \(not a formula\)."),
        ("It costs $5 or $10, *at most*.", "It costs $5 or $10, at most."),
        ("$$x$$ begins a *line*.", "$$x$$ begins a line."),
        ("`$a*b$` and `\\(c\\)`", "$a*b$ and \\(c\\)"),
    ],
)
def test_brackets_and_prices_are_no_formulas(tmp_path: Path, text: str, shown: str) -> None:
    assert read(tmp_path, text) == shown


def test_links_callouts_and_tasks_of_notebooks_read_as_they_are_shown(tmp_path: Path) -> None:
    text = read(
        tmp_path,
        "See [[Moon tides|the moon]], [[Quays]] and `[[code]]`, in R `x` is x[[1]].\n\n"
        "> [!warning]- Mind the mole\n> It is slippery.\n\n> [!NOTE]\n> It is wet.\n\n"
        "> [!tip] *Rope*\n> Buy it.\n\n- [x] Buy rope\n- [ ] Paint the hull\n- [ ](x)\n",
    )
    assert text.split("\n\n") == [
        "See the moon, Quays and [[code]], in R x is x[[1]].",
        "Mind the mole\nIt is slippery.",
        "Note\nIt is wet.",
        "Rope\nBuy it.",
        "• ☑ Buy rope\n• ☐ Paint the hull",
    ]


def test_every_footnote_stays_where_it_is_written_behind_its_mark(tmp_path: Path) -> None:
    text = read(
        tmp_path,
        "Depth[^1] and width[^w].\n\n[^1]: Four\n\n[^w]: Ten *metres*.\n\n    By $n_1$.\n\n"
        "[^9]: Nobody refers to it.\n\nThe end.",
    )
    assert text.split("\n\n") == [
        "Depth[1] and width[w].",
        "[1] Four",
        "[w] Ten metres.",
        "By $n_1$.",
        "[9] Nobody refers to it.",
        "The end.",
    ]


def test_what_looks_like_a_tag_and_is_no_element_of_html_is_text(tmp_path: Path) -> None:
    text = read(
        tmp_path,
        "A `Map<K, V>`, a Vec<T> and <Panel wide>words</Panel>, <b>bold</b> by<br>line.\n\n"
        "<T>\n\n| type |\n|---|\n| Set<T> |\n\n```\nlist<T> a;\n```\n\n<div>\nIn <Item/> a block\n"
        "</div>",
    )
    assert text.split("\n\n") == [
        "A Map<K, V>, a Vec<T> and <Panel wide>words</Panel>, bold by\nline.",
        "<T>",
        "type\nSet<T>",
        "list<T> a;",
        "In <Item/> a block",
    ]


def test_front_matter_that_is_nearly_yaml_is_no_text(tmp_path: Path) -> None:
    document = opened(tmp_path, "---\ntitle: Tea: a *short* guide\ntags:\n - a\n---\nWords.\n")
    assert document.facts.title == "Tea: a *short* guide"
    assert [page.text for page in document.pages] == ["Words."]
    assert read(tmp_path, "---\nIt said: tea, and: more: of it\n---\nWords.\n") != "Words."


@pytest.mark.parametrize("attributes", ["{#tea}", "{#tea .hot}", "{: #tea }", "{.unnumbered}"])
def test_a_heading_has_no_attributes_in_its_words(tmp_path: Path, attributes: str) -> None:
    text = read(tmp_path, f"# Green tea {attributes}\n\nOf {{#this}} kind\n")
    assert text == "Green tea\n\nOf {#this} kind"


@pytest.mark.parametrize(
    ("written", "text", "count"),
    [
        ("The tide %%ask Ben%% turns.", "The tide turns.", 1),
        ("Before.\n\n%%\nFor me alone.\n\nNot sent.\n%%\n\nAfter.", "Before.\n\nAfter.", 1),
        ("```\n%%time\nrun()\n%%\n```\n\n%%x%%\n\nAfter.", "%%time\nrun()\n%%\n\nAfter.", 1),
        ("Write `%%a%%`, or 5%% of 20%%.", "Write %%a%%, or 5%% of 20%%.", 0),
        ("A cell begins with %%time.", "A cell begins with %%time.", 0),
    ],
    ids=["line", "block", "fence", "code", "no end"],
)
def test_comments_of_obsidian_are_told_and_not_read(
    tmp_path: Path, written: str, text: str, count: int
) -> None:
    assert read(tmp_path, written) == text
    note = f"Comments that are not read: {count}." if count else ""
    assert opened(tmp_path, written).facts.note == note


def test_words_that_are_struck_out_are_told_and_not_read(tmp_path: Path) -> None:
    text = "It costs ~~nine~~ seven.\n\n- [x] ~~Ask Ben~~"
    assert read(tmp_path, text) == "It costs seven.\n\n• ☑"
    assert opened(tmp_path, text).facts.note == "Texts that are struck out and not read: 2."


def test_comments_are_looked_for_in_linear_time() -> None:
    began = perf_counter()
    without_comments("%% " + "`" * 200_000 + "\n%%\n" * 20_000)
    assert perf_counter() - began < 2


def test_a_highlight_is_read_without_its_signs(tmp_path: Path) -> None:
    text = "It ==matters== that a == b and c == d, `==here==`, too."
    assert read(tmp_path, text) == "It matters that a == b and c == d, ==here==, too."


def test_front_matter_may_be_toml(tmp_path: Path) -> None:
    text = '+++\ntitle = "Tides"\nauthors = ["Ada Quay"]\ndate = 2026-05-03\n+++\n\nWords.\n'
    facts = opened(tmp_path, text).facts
    assert (facts.title, facts.author, facts.published) == ("Tides", "Ada Quay", "2026-05-03")
    assert read(tmp_path, text) == "Words."
    assert read(tmp_path, "+++\nNo front matter.\n+++\n") == "+++\nNo front matter.\n+++"


def test_tags_that_change_what_is_said_count(tmp_path: Path) -> None:
    text = "10<sup>5</sup> H<sub>2</sub>O for <s>nine</s> <del>eight</del> seven.\n\nx<sup>n\n\nEnd"
    assert read(tmp_path, text) == "10⁵ H₂O for seven.\n\nx^n\n\nEnd"
    assert opened(tmp_path, text).facts.note == "Texts that are struck out and not read: 2."
