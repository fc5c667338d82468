"""Templates: Django prints what it takes for no tag, such as a tag over two lines."""

import re
from pathlib import Path

from django.template.base import Lexer, TokenType

FOLDER = Path("templates")  # `kbsite/templates` is a link to it
PRINTED = re.compile(r"\{[{%#]|[}%#]\}")


def printed_tags(source: str) -> list[str]:
    """Return the line of each tag or comment that a page would show to its readers."""
    return [
        f"line {(token.lineno or 0) + token.contents[: tag.start()].count(chr(10))}: {tag[0]}"
        for token in Lexer(source).tokenize()
        if token.token_type == TokenType.TEXT
        for tag in PRINTED.finditer(token.contents)
    ]


def test_no_template_has_a_tag_that_is_printed() -> None:
    paths = [path for path in FOLDER.rglob("*") if path.suffix in (".html", ".svg", ".txt")]
    assert paths
    assert {
        str(path): tags
        for path in paths
        if (tags := printed_tags(path.read_text(encoding="utf-8")))
    } == {}


def test_tags_over_lines_and_tags_without_an_end_are_found() -> None:
    assert printed_tags("<p>{{ a }}{% b %}{# c #}</p>") == []
    assert printed_tags("<p>{{ a|join:\n'' }}</p>") == ["line 1: {{", "line 2: }}"]
    assert printed_tags("\n{% if a\n%}b{% endif %}") == ["line 2: {%", "line 3: %}"]
    assert printed_tags("{# a\nb #}{{ c }") == ["line 1: {#", "line 2: #}", "line 2: {{"]
