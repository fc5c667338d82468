"""A quote that was checked, as a tool answer within the token budget."""

from citations.passages import pages, seconds
from citations.quotes.matching import WordDifference
from citations.quotes.verification import VerifiedQuote
from kbsite.mcp.budget import as_json, longest, tokens
from kbsite.mcp.render_transcript import TITLE
from kbsite.mcp.tool_inputs import VerifyQuote
from kbsite.mcp.tool_outputs import DifferenceAnswer, VerifiedAnswer
from transcripts.conf import public_url
from transcripts.timecodes import clock

DIFFERENCES, WORDS = 5, 120  # that an answer names, and characters of each

_SAID = {
    "verbatim": "Verbatim: it may be cited.",
    "misattributed": "Misattributed: it stands word for word, but in another source, which is the one to cite.",
    "altered": "Altered: do not cite it as it is. What stands there, and what differs:",
    "not_found": "Not found: do not cite it. Next: search_knowledge_base for what it says.",
}
_TOO_SHORT = "Too short to prove anything: verify_quote with three words or more."


def verified_answer(found: VerifiedQuote, asked: VerifyQuote) -> tuple[str, VerifiedAnswer]:
    """Return the verdict, the true place, and the words that differ."""
    data = _data(found)
    room = max(32, asked.budget // 2 - tokens(as_json(data)) - tokens(_SAID[data.verdict]))
    data.text = found.text[: longest(found.text, 0, room=room)] if found.text else None
    lines = [_TOO_SHORT if data.too_short else _SAID[data.verdict]]
    if data.title:
        lines.append(f"“{data.title}”{_place(data)} {data.link}: {data.text}")
    lines += [f"- {one.kind}: {_differing(one)}" for one in data.differences]
    return "\n".join(lines), data


def _data(found: VerifiedQuote) -> VerifiedAnswer:
    data = VerifiedAnswer(verdict=found.verdict.value, too_short=not found.is_enough)
    data.differences = [_difference(one) for one in found.differences[:DIFFERENCES]]
    if found.origin and found.locator:
        data.source_id, data.title, data.video_id = (
            str(found.origin.id),
            found.origin.title[:TITLE],
            found.origin.key or None,
        )
        data.start, data.end = seconds(found.locator.start), seconds(found.locator.end)
        data.page, data.last_page = found.locator.page, found.locator.last_page
        data.link = f"{public_url()}{found.link}"
    return data


def _difference(one: WordDifference) -> DifferenceAnswer:
    return DifferenceAnswer.model_validate(
        {"kind": one.kind, "quoted": one.quoted[:WORDS], "actual": one.actual[:WORDS]}
    )


def _differing(one: DifferenceAnswer) -> str:
    """Return the words that the quote adds or leaves out, or what it says and what stands there."""
    return " → ".join(f"“{words}”" for words in (one.quoted, one.actual) if words)


def _place(data: VerifiedAnswer) -> str:
    if data.start is not None:
        return f" at {clock(round(data.start * 1000))}"
    return f", {pages(data.page)}" if data.page else ""
