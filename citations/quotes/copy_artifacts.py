"""What comes along when words are copied out of a caption file, a web page or Markdown. Pure, standard library only.

A closed list: markup that says nothing, and nothing that strikes out, refers or speaks. Every step takes linear time.
"""

import re
from collections.abc import Iterator, Sequence
from html.entities import html5
from typing import Final

_REPEATED = (
    3  # words, from which on a line that comes twice is a caption that rolls: "no / no" is said
)

_CLOCK = r"(?:\d{1,3}:)?[0-5]?\d:[0-5]\d"
_SPAN = rf"(?:{_CLOCK}(?:[.,]\d{{1,3}})?[ \t]*-->[ \t]*{_CLOCK}(?:[.,]\d{{1,3}})?|{_CLOCK}\.\d{{3}},{_CLOCK}\.\d{{3}})"
_SETTINGS = r"(?:[ \t]+(?:align|position|line|size|region|vertical):\S+)*"
_TIMING: Final = re.compile(
    rf"(?:^[ \t]*\d{{1,6}}[ \t]*\n)?(?:^|(?<=\s)){_SPAN}{_SETTINGS}(?=\s|$)", re.MULTILINE
)
_STAMP: Final = re.compile(rf"^[ \t]*(?:\[{_CLOCK}\]|{_CLOCK}(?=[ \t]*$))", re.MULTILINE)
_TAG: Final = re.compile(
    r"</?(?:i|b|u|em|strong|mark|q|p|span|font|c(?:\.[\w.]{1,40})?)>|<font color=[\"']?#?\w{1,20}[\"']?>|<(?:\d{1,4}:)?\d\d:\d\d\.\d{3}>",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<br[ \t]{0,3}/?>|</?p>", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE: Final = re.compile(r"\\(?:u([\da-fA-F]{4})|(?=[\"']))")
_LINK: Final = re.compile(r"(?<![!\w])\[([^\[\]\n]{1,200})\]\((?:https?://|/|#)[^\s()]{0,500}\)")
_EMPHASIS: Final = re.compile(
    r"(?<![\w*`])(\*{1,3}|_{1,2}|`)(?=[^\W\d_])([^*_`\n]{1,400})(?<=[^\W\d_])\1(?![\w*`])"
)
_QUOTED: Final = re.compile(r"\s*['‘’‚‛`´](?P<text>.*)['‘’‛`´]\s*", re.DOTALL)


def bare(quote: str) -> str:
    """Return a quote without timings, tags, references to characters, emphasis, links, quote marks around it and lines that roll up once more."""
    text = _STAMP.sub("", _TIMING.sub("", quote)) if ":" in quote else quote
    text = "\n".join(_once(text.split("\n"))) if "\n" in text else text
    text = _TAG.sub("", _BREAK.sub(" ", text)) if "<" in text else text
    text = _REFERENCE.sub(_character, text) if "&" in text else text
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _ESCAPE.sub(_escaped, text)))
    quoted = _QUOTED.fullmatch(text)
    return quoted["text"] if quoted else text


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if not name.startswith("#"):
        return html5.get(f"{name};", match[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code <= 0x10FFFF else match[0]


def _escaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else ""


def _once(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines without those that say again, in whole lines, what was on the screen before: captions that roll repeat their last line."""
    before = ""
    for line in lines:
        said = " ".join(line.split())
        if said and said == before and len(said.split()) >= _REPEATED:
            continue
        before = said or before
        yield line
