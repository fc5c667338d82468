"""How hits and answers were found, in words: names of stages, and why a passage is a hit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from citations.passages import Explanation, Results, TracedHit
from citations.stages import rule_name, stage_name
from transcripts.core.translation import quoted

register = template.Library()
register.filter(stage_name)
register.filter(rule_name)

MAX_WORDS: Final = 5  # that are named
NEAR_SHARE: Final = 0.25  # of the way from the farthest passage to the nearest
TELLING: Final = 0.1  # of the best word's score, that a word needs to be named
# For the catalogue: the judge, which knows no translations, names its signs.
SIGNS: Final = (
    gettext_noop("reciprocal ranks"),
    gettext_noop("closeness"),
    gettext_noop("closeness with neighbours"),
    gettext_noop("rank by meaning"),
    gettext_noop("rank by words"),
    gettext_noop("words"),
    gettext_noop("words with neighbours"),
    gettext_noop("coverage"),
    gettext_noop("coverage with neighbours"),
    gettext_noop("coverage by the title"),
    gettext_noop("coverage by the heading"),
    gettext_noop("rarest word"),
    gettext_noop("strength of words"),
    gettext_noop("number of words"),
    gettext_noop("agreement of branches"),
    gettext_noop("length"),
    gettext_noop("share of the source"),
    gettext_noop("closeness of the source"),
    gettext_noop("words of the source"),
    gettext_noop("cross-encoder"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """How much speaks for a passage in one respect, 0 to 100."""

    name: str
    percent: int


@register.filter
def reason(explanation: Explanation) -> str:
    """Say in a sentence why a passage is a hit."""
    best = max((term.score for term in explanation.terms), default=0.0)
    telling = [term.term for term in explanation.terms if term.score >= TELLING * best]
    named = telling[:MAX_WORDS]
    words = ", ".join(map(quoted, named))
    if explanation.lexical_rank is None or not words:
        if not _is_near(explanation):
            return _("It was found by its meaning, but other passages are nearer.")
        return _("It says the same in other words: its meaning is near.")
    if explanation.vector_rank is None or not _is_near(explanation):
        sentence = ngettext("It has the word %(words)s.", "It has the words %(words)s.", len(named))
    else:
        sentence = ngettext(
            "It has the word %(words)s, and its meaning is near.",
            "It has the words %(words)s, and its meaning is near.",
            len(named),
        )
    return sentence % {"words": words}


@register.filter
def dropped_for(results: Results, chunk: int) -> list[TracedHit]:
    """Return the hits in whose place a passage is listed."""
    return [hit for hit in results.dropped if hit.kept == chunk]


@register.filter
def bars(explanation: Explanation) -> list[Bar]:
    """Return what speaks for a passage, to be drawn."""
    signs = {sign.name: sign.value for sign in explanation.signs}
    names = {
        "words": _("Words"),
        "closeness": _("Meaning"),
        "closeness with neighbours": _("Meaning of the surrounding text"),
        "closeness of the source": _("The source as a whole"),
    }
    shares = {name: signs[sign] for sign, name in names.items() if sign in signs}
    best = max((term.score for term in explanation.terms), default=0.0)
    if not signs and best > 0:
        shares = {term.term: term.score / best for term in explanation.terms[:MAX_WORDS]}
    return [Bar(name, round(100 * min(1.0, max(0.0, share)))) for name, share in shares.items()]


def _is_near(explanation: Explanation) -> bool:
    """Tell whether its meaning is drawn as near; where no judge compared them, all are."""
    closeness = [sign.value for sign in explanation.signs if sign.name == "closeness"]
    return not explanation.signs or max(closeness, default=0.0) >= NEAR_SHARE


@register.filter
def way(trace: Mapping[str, Any]) -> str:
    """Say in a sentence how an answer was made."""
    passages, checks = trace.get("evidence", ()), trace.get("checks", ())
    sources = len({passage["source"] for passage in passages})
    read = ngettext(
        "%(passages)d passages of one source were read.",
        "%(passages)d passages of %(sources)d sources were read.",
        sources,
    ) % {"passages": len(passages), "sources": sources}
    cited = len({check["number"] for check in checks} - {0})
    checked = ngettext(
        "One quote was looked up in its source and found word for word.",
        "%(count)d quotes were looked up in their sources and found word for word.",
        cited,
    ) % {"count": cited}
    return f"{read} {checked}" if cited else read
