from citations.text.markdown import escape_markdown


def test_markdown_syntax_is_escaped() -> None:
    assert escape_markdown("*a* [b](c) <d>") == r"\*a\* \[b\](c) \<d\>"


def test_a_number_at_the_start_does_not_begin_a_list() -> None:
    assert escape_markdown("1. one") == r"1\. one"


def test_line_breaks_become_spaces() -> None:
    assert escape_markdown("one\n\n# two") == r"one \# two"
