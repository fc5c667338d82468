"""What the library knows of sources themselves, cited where they, or their parts, begin."""

from collections.abc import Sequence
from typing import Final

from citations.answers.answer import Claim, ClaimEvent, Draft, Writing
from citations.answers.citation_check import Proof
from citations.answers.question.named_sources import Number, heading_number
from citations.answers.question.router import SourceFact
from citations.models import Source
from citations.quotes import source_texts
from citations.text.sentences import Span, split
from transcripts.text.timecodes import spoken_length

MAX_CITED: Final = 8  # parts of a source that are named, and cited
_READ: Final = 1_000  # characters in which the first sentence of a part ends


WHICH: Final = "Several sources may be meant: name one by its title."


def write(fact: SourceFact, sources: Sequence[Source], proof: Proof) -> Writing:
    """Write what is known of each source; what is not known is a remark."""
    claims, remarks = list[Claim](), [] if sources else [WHICH]
    for source in sources:
        said, places = _known(fact, source)
        text, count = f"“{source.title}” {said}.", len(proof.quotes)
        if not places:
            remarks.append(text)
            continue
        cited = (proof.cite(source, _sentence(source, place)) for place in places)
        claims.append(Claim(text=text, citations=tuple(cited)))
        yield ClaimEvent(claim=claims[-1], quotes=tuple(proof.quotes[count:]))
    return Draft(claims=tuple(claims), remarks=tuple(remarks))


def _sentence(source: Source, place: int) -> Span:
    first, last = split(source_texts.of(source).text[place : place + _READ])[0]
    return place + first, place + last


def _known(fact: SourceFact, source: Source) -> tuple[str, list[int]]:
    """Return what is known of a source, and where it is cited: nowhere if it is not known."""
    date, duration = source.published_at, source.video.duration if source.video else 0
    count = source.document.page_count if hasattr(source, "document") else 0
    speakers = source_texts.of(source).speakers if source.video else []
    match fact:
        case "date" if date:
            return f"is of {date.day} {date:%B %Y}", [0]
        case "length" if duration or count > 1:
            noun = "slides" if source.has_slides else "pages"
            return f"has {count} {noun}" if count else f"takes {spoken_length(duration)}", [0]
        case "author" if speakers:
            return f"has the speakers {' and '.join(speakers)}", [0]
        case "author" if source.author and not source.video:
            return f"is by {source.author}", [0]
        case "author" if source.author:
            return f"was published by {source.author}; its captions name no speaker", []
        case "chapters" | "sections":
            return _parts(fact, source)
    return f"has no {fact} that the library knows", []


def _parts(fact: SourceFact, source: Source) -> tuple[str, list[int]]:
    """Return how many chapters, or sections of chapters, have numbers that leave none out."""
    reading = source_texts.of(source)
    parts: dict[Number, tuple[str, int]] = {}  # the heading, and where its block begins
    for heading, place in zip(reading.headings, reading.offsets, strict=True):
        if number := heading_number(heading):
            parts.setdefault(number[:1], (str(number[0]), place))
            parts[number] = (heading, parts.get(number, (heading, place))[1])
    chapters = sorted(number[0] for number in parts if len(number) == 1)
    depth = 1 if fact == "chapters" else 2
    numbered = [part for number, part in parts.items() if len(number) == depth]
    if not numbered or chapters != [*range(chapters[0], chapters[0] + len(chapters))]:
        return f"has no numbered {fact}", []
    count, cited = len(numbered), numbered[:MAX_CITED]
    names = "; ".join(name for name, _ in cited) + ("; …" if count > MAX_CITED else "")
    noun = fact if count > 1 else fact.removesuffix("s")
    return f"has {count} {noun}: {names}", [place for _, place in cited]
