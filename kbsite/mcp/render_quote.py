"""Renders a checked quote as a tool's answer."""

from citations.quotes.verification import VerifiedQuote
from citations.schemas.answers import DifferenceOut, QuoteCheckOut
from kbsite.mcp.budget import shorten, size, tokens
from kbsite.mcp.tool_inputs import VerifyQuote
from kbsite.mcp.tool_outputs import clip, titled

DIFFERENCES = 5  # that an answer names

_ADVICE = {
    "verbatim": "Verbatim: you may cite it.",
    "misattributed": "Misattributed: it is word for word in another source; cite that one.",
    "altered": "Altered: do not cite it as it is. The source's words, and what differs:",
    "not_found": "Not found: do not cite it. Next: search_knowledge_base for what it says.",
}
_TOO_SHORT = "Too short to prove anything: verify_quote with three words or more."


def render_quote_check(check: VerifiedQuote, asked: VerifyQuote) -> tuple[str, QuoteCheckOut]:
    """Return the verdict, the location, and the words that differ."""
    whole = clip(QuoteCheckOut.model_validate(check))
    differences = [clip(difference) for difference in whole.differences[:DIFFERENCES]]
    data = whole.model_copy(update={"differences": differences, "text": ""})
    advice = _ADVICE[data.verdict] if data.is_enough else _TOO_SHORT
    data.text = shorten(whole.text, room=asked.budget // 2 - size(data) - tokens(advice))
    lines = [advice]
    if data.title:
        lines.append(f"{titled(data)} {data.link}: {data.text}")
    lines += [f"- {difference.kind}: {_words(difference)}" for difference in differences]
    return "\n".join(lines), data


def _words(difference: DifferenceOut) -> str:
    """Return the words that the quote adds or omits, or its words and the source's."""
    return " → ".join(f"“{words}”" for words in (difference.quoted, difference.actual) if words)
