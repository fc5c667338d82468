"""Measure over MCP how many calls and tokens an answer in a long lecture takes.

Run ``python bench/mcp_reading.py`` from the repository: it writes the table of docs/mcp.md. Two
lectures of one course, which follow each other, are joined to one of more than three hours.
Questions of five kinds were written for it, with the seconds at which they are answered. Fixed
rules take the place of a model: of at most five hits, it recognizes the one that holds the answer,
else it searches in the other way; it reads around the hit with a time at each sentence, and has the
sentence that shares most words with the question checked as a quote. An answer is found if what was
read holds it. Tokens are those of arguments and answers, counted as the budgets count them.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from statistics import fmean
from typing import Final, NamedTuple

from harness.environment import ROOT, boot

boot()

from harness.judged import ingest
from harness.report import table, wrapped
from harness.sets import SPEECH
from mcp import Client
from mcp_types import TextContent

from citations.ingest import discovery
from citations.models import Source
from citations.outline import storage as outline_storage
from kbsite.callers import SignedInCaller, everything
from kbsite.cli.users import owner
from kbsite.mcp.answer_text import tokens
from kbsite.mcp.calls import LOCAL_CALLER, in_thread
from kbsite.mcp.server import build_server
from kbsite.mcp.tools import all_tools
from transcripts.adding import storage
from transcripts.models import Collection
from transcripts.text.timecodes import clock, parse_clock

LECTURES: Final = ("nyu-w01-lecture", "nyu-w02-lecture")
VIDEO: Final = "joined"
PAGE: Final = ROOT / "docs" / "mcp.md"
AROUND: Final = 45  # seconds that are read before and after a hit
MARKS: Final = ("<!-- measured -->\n", "<!-- end -->\n")
_PLACE = re.compile(r"(?:\[|, )((?:\d+:)?\d+:\d\d)(?:–((?:\d+:)?\d+:\d\d))?")
_LINE = re.compile(r"^\[([\d:]+)\] (.+)$", re.MULTILINE)


class Question(NamedTuple):
    """A question, and the seconds from which to which the lecture answers it."""

    text: str
    start: float
    end: float


SECOND: Final = 5934.72  # where the second lecture begins, in seconds
FACTS: Final = (
    Question("error rate of Geoff Hinton's team on ImageNet", 3781, 3791),
    Question("size of the ImageNet training set", 3716, 3729),
    Question("machine of Frank Rosenblatt", 1031, 1056),
    Question("who invented softmax", SECOND + 4112, SECOND + 4126),
)
MEANINGS: Final = (
    Question("Why are several linear layers no better than one?", 1730, 1752),
    Question("Why must examples not come sorted by their class?", SECOND + 5024, SECOND + 5059),
    Question(
        "What happens when the training data repeat themselves?", SECOND + 1251, SECOND + 1288
    ),
    Question("Why does ReLU not care about the scale of its input?", SECOND + 4929, SECOND + 4955),
)
EXPLANATIONS: Final = (
    Question("What did Hubel and Wiesel discover?", 2885, 2950),
    Question("How should the weights of a network be initialized?", SECOND + 5887, SECOND + 5986),
    Question("What is the Jacobian matrix used for?", SECOND + 2763, SECOND + 2800),
    Question("What does L2 regularization do at every update?", SECOND + 5482, SECOND + 5500),
)
PARTS: Final = (
    Question("History of pattern recognition", 1461, 2336),
    Question("Evolution of convolutional networks", 2965, 3955),
    Question("PyTorch implementation of a network", SECOND + 2288, SECOND + 2989),
    Question("Practical tricks for backpropagation", SECOND + 4891, SECOND + 6197),
)
MOMENTS: Final = tuple(kind[0] for kind in (FACTS, MEANINGS, EXPLANATIONS, PARTS))


class Reader:
    """Calls tools and counts."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.calls = self.tokens = 0
        self.is_quoted = False

    async def call(self, tool: str, **arguments: object) -> str:
        """Return the text of an answer."""
        result = await self.client.call_tool(tool, dict(arguments))
        assert not result.is_error, result.content
        (content,) = result.content
        assert isinstance(content, TextContent)
        self.calls += 1
        self.tokens += tokens(json.dumps(arguments)) + tokens(content.text)
        return content.text

    async def read(self, start: float, end: float, question: Question) -> bool:
        """Read a range and check a quote of it; return whether the answer is in what was read."""
        times = {"startTime": max(0, start), "endTime": end, "times": "sentence"}
        text = await self.call("get_transcript", videoId=VIDEO, **times)
        words, lines = _words(question.text), _LINE.findall(text)
        quote = max((line for _, line in lines), key=lambda line: len(words & _words(line)))
        self.is_quoted = await self.check(quote)
        return any(question.start - 5 <= parse_clock(time) <= question.end for time, _ in lines)

    async def check(self, quote: str) -> bool:
        answer = await self.call("verify_quote", quote=quote, sourceId=VIDEO)
        return answer.startswith("Verbatim")


Way = Callable[[Reader, Question], Awaitable[bool]]


async def by_words(reader: Reader, question: Question) -> bool:
    """Search by words, then by meaning; return whether the answer was read."""
    return await _search(reader, question, "search_transcript", "search_knowledge_base")


async def by_meaning(reader: Reader, question: Question) -> bool:
    return await _search(reader, question, "search_knowledge_base", "search_transcript")


async def by_answer(reader: Reader, question: Question) -> bool:
    arguments = {"question": question.text, "sourceIds": [VIDEO]}
    answer = await reader.call("ask_knowledge_base", **arguments)
    places = [_place(line) for line in answer.splitlines() if "citationId=" in line]
    reader.is_quoted = bool(places)  # quotes of answers are verified
    if any(start < question.end and end >= question.start for start, end in places):
        return True
    return await by_meaning(reader, question)


async def by_outline(reader: Reader, question: Question) -> bool:
    """Read the beginning of the part of the outline that lies mostly in the section."""
    outline = await reader.call("get_outline", sourceId=VIDEO)
    parts = [_place(line) for line in outline.splitlines() if line.startswith("## ")][1:]

    def shared(part: tuple[float, float]) -> float:
        return min(part[1], question.end) - max(part[0], question.start)

    start, end = max(parts, key=shared)
    return await reader.read(start, min(end, start + 2 * AROUND), question)


async def by_time(reader: Reader, question: Question) -> bool:
    return await reader.read(question.start - AROUND, question.start + AROUND, question)


WAYS: Final[dict[str, tuple[Way, tuple[Question, ...]]]] = {
    "A name or a number: `search_transcript`, `get_transcript`": (by_words, FACTS),
    "In other words: `search_knowledge_base`, `get_transcript`": (by_meaning, MEANINGS),
    "An explanation: `ask_knowledge_base`": (by_answer, EXPLANATIONS),
    "A part: `get_outline`, `get_transcript`": (by_outline, PARTS),
    "A moment: `get_transcript`": (by_time, MOMENTS),
}


def main() -> None:
    length, words = fill()
    report = asyncio.run(measure())
    head = (
        f"`python bench/mcp_reading.py` finds and quotes answers in a lecture of {clock(length)} "
        f"({words:,} words; weeks 1 and 2 of NYU's course on deep learning, joined), by fixed "
        "rules instead of a model: it recognises the answer among five hits, reads around it "
        "with a time at each sentence, and has the quote checked. There are four questions of each "
        f"kind. The tool definitions add {definitions():,} tokens, once."
    )
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    text = f"{wrapped(head)}\n\n{report}"
    PAGE.write_text(f"{before}{MARKS[0]}{text}\n{MARKS[1]}{after}")
    print(text)


def fill() -> tuple[int, int]:
    """Store and index the lecture; return its length (ms) and number of words."""
    cues: list[dict[str, float | str]] = []
    shift = 0.0
    for name in LECTURES:
        talk = json.loads((SPEECH / "nyudl" / f"{name}.json").read_text())
        cues += [{**cue, "start": cue["start"] + shift} for cue in talk["cues"]]
        shift += talk["duration"]
    data = {"id": VIDEO, "title": "Deep learning, weeks 1 and 2", "lang": "en", "cues": cues}
    shelf = Collection.objects.default()
    storage.add_captions(shelf, json.dumps(data).encode(), name="joined.json")
    discovery.adopt()
    ingest(shelf)
    outline_storage.refresh(Source.objects.get())
    return round(shift * 1000), sum(len(str(cue["text"]).split()) for cue in cues)


async def measure() -> str:
    LOCAL_CALLER.set(await in_thread(lambda: SignedInCaller(user=owner(), scope=everything())))
    async with Client(SERVER) as client:
        return await measure_with(client)


async def measure_with(client: Client) -> str:
    rows: list[tuple[object, ...]] = []
    for name, (way, questions) in WAYS.items():
        readers = [Reader(client) for _ in questions]
        pairs = zip(readers, questions, strict=True)
        right = [await way(reader, question) for reader, question in pairs]
        spent = [reader.tokens for reader in readers]
        rows.append(
            (
                name,
                f"{sum(right)} of {len(right)}",
                sum(reader.is_quoted for reader in readers),
                f"{fmean(reader.calls for reader in readers):.1f}",
                f"{fmean(spent):,.0f}",
                max(spent),
            )
        )
    whole, more = Reader(client), ""
    while not whole.calls or more:
        arguments = {"videoId": VIDEO, "includeFullTranscript": True, "cursor": more}
        text = await whole.call("get_transcript", **arguments)
        more = "".join(re.findall(r"cursor=(\S+)$", text, re.MULTILINE))
    rows.append(("All of it, from end to end", "", "", whole.calls, whole.tokens, ""))
    return table(("Question", "found", "quoted", "calls", "tokens", "most"), rows)


def definitions() -> int:
    """Return the tokens of the tools' definitions, without icons."""
    rows = [(tool.name, tool.title, tool.description, tool.parameters) for tool in all_tools()]
    return tokens(json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


async def _search(reader: Reader, question: Question, *tools: str) -> bool:
    """Read around the hit that holds the answer, of the first tool that has one in five."""
    for tool in tools:
        arguments = {"query": question.text, "videoId": VIDEO, "maxResults": 5}
        answer = await reader.call(tool, **arguments)
        for start, end in map(_place, re.findall(r"^\d\. .*$", answer, re.MULTILINE)):
            if start < question.end and end >= question.start:
                middle = (max(start, question.start) + min(end, question.end)) / 2
                return await reader.read(middle - AROUND, middle + AROUND, question)
    return False


def _place(line: str) -> tuple[float, float]:
    match = _PLACE.search(line)
    if match is None:
        return -1.0, -1.0
    start = parse_clock(match[1])
    return start, parse_clock(match[2]) if match[2] else start


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.casefold()))


SERVER: Final = build_server()

if __name__ == "__main__":
    main()
