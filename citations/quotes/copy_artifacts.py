"""Strip what copying adds to words from caption files, web pages and Markdown. Pure.

A closed list of markup without meaning; nothing that strikes out, refers or speaks. Linear time.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from transcripts.captions.speech import character_of

_REPEATED = 3  # words of a line that rolling captions repeat; "no / no" is speech

_CLOCK = r"(?:\d{1,3}:)?[0-5]?\d:[0-5]\d"
_MOMENT = rf"{_CLOCK}(?:[.,]\d{{1,3}})?"
_SPAN = rf"(?:{_MOMENT}[ \t]*-->[ \t]*{_MOMENT}|{_CLOCK}\.\d{{3}},{_CLOCK}\.\d{{3}})"
_SETTINGS = r"(?:[ \t]+(?:align|position|line|size|region|vertical):\S+)*"
_TIMING: Final = re.compile(
    rf"(?:^[ \t]*\d{{1,6}}[ \t]*\n)?(?:^|(?<=\s)){_SPAN}{_SETTINGS}(?=\s|$)", re.MULTILINE
)
_STAMP: Final = re.compile(rf"^[ \t]*(?:\[{_CLOCK}\]|{_CLOCK}(?=[ \t]*$))", re.MULTILINE)
_TAG: Final = re.compile(
    r"</?(?:i|b|u|em|strong|mark|q|p|span|font|c(?:\.[\w.]{1,40})?)>"
    r"|<font color=[\"']?#?\w{1,20}[\"']?>|<(?:\d{1,4}:)?\d\d:\d\d\.\d{3}>",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<br[ \t]{0,3}/?>|</?p>", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE: Final = re.compile(r"\\(?:u([\da-fA-F]{4})|(?=[\"']))")
_LINK: Final = re.compile(r"(?<![!\w])\[([^\[\]\n]{1,200})\]\((?:https?://|/|#)[^\s()]{0,500}\)")
_EMPHASIS: Final = re.compile(
    r"(?<![\w*`])(\*{1,3}|_{1,2}|`)(?=[^\W\d_])([^*_`\n]{1,400})(?<=[^\W\d_])\1(?![\w*`])"
)
# A block quote of Markdown; "> 3" and "> y" may be comparisons.
_BLOCK: Final = re.compile(
    r"^[ \t]{0,3}(?:>[ \t]{0,3}){1,3}(?=[^\W\d_]{2}|[AaIi] |[\"“„«‘’']|$)", re.MULTILINE
)
_QUOTED: Final = re.compile(r"\s*['‘’‚‛`´](?P<text>.*)['‘’‛`´]\s*", re.DOTALL)


def bare(quote: str) -> str:
    """Return a quote without the markup, outer quotation marks and repeated lines of a copy."""
    text = _BLOCK.sub("", quote) if quote.lstrip().startswith(">") else quote
    text = _STAMP.sub("", _TIMING.sub("", text)) if ":" in text else text
    text = "\n".join(_once(text.split("\n"))) if "\n" in text else text
    text = _TAG.sub("", _BREAK.sub(" ", text)) if "<" in text else text
    text = _REFERENCE.sub(character_of, text) if "&" in text else text
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else "", text)
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))
    quoted = _QUOTED.fullmatch(text)
    return quoted["text"] if quoted else text


def _once(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, except those that repeat the previous one: rolling captions do."""
    previous = ""
    for line in lines:
        words = " ".join(line.split())
        if words and words == previous and len(words.split()) >= _REPEATED:
            continue
        previous = words or previous
        yield line
