"""A question that leaves out what the one before it said, made whole by rules. What stands by itself stays as it is."""

import re
from typing import Final

from citations.answers.question import coreference
from citations.answers.question.coreference import About
from citations.answers.question.words import IS, WHO, asks, content

MAX_SHORT: Final = 6  # words of what only names another thing: “and in Germany?”


def completed(question: str, before: str) -> str:
    """Return a question with what it leaves out, taken from the question ``before`` it: what it reads as is shown to people.

    In this order: more of the same, an example, a bare “why?”, another place or thing, a correction, pronouns. A question that leans on nothing is new.
    """
    text, old = " ".join(question.split()), " ".join(before.split()).rstrip("?.! ")
    told = _TOLD.fullmatch(old)
    if told and _BARE.fullmatch(text):
        return f"{_bare(text, told['asked'], _about(told['asked']))} ({told['about']})"
    old = told["about"] if told and not _MORE.fullmatch(text) else old
    about = _about(old)
    if not old:
        return text
    for rule in (_more, _example, _bare, _other, _meant):
        whole = rule(text, old, about)
        if whole:
            return _begun(whole)
    return _leaning(text, old, about)


def asks_for_more(question: str) -> bool:
    """Say whether a question asks for more than it was told: what it was told before is no answer."""
    return _FURTHER.fullmatch(" ".join(question.split())) is not None


def _about(old: str) -> About:
    """Return what a question is about; a few words that ask nothing are about themselves."""
    old = _ALSO.sub("", old)
    return (
        coreference.subject(old)
        if asks(old) or len(old.split()) > MAX_SHORT
        else About(old, is_noun=True)
    )


_TOLD: Final = re.compile(
    r"(?P<asked>[^()]{1,500}?)\?? \((?P<about>[^()]{1,500})\)"
)  # a question that was made whole by what it is about
_ALSO: Final = re.compile(
    r",\s+(?:and|und|et|y)\s+[\w\s]{1,20}$", re.IGNORECASE
)  # “…, and when” of an earlier question that was made whole

# More of the same

_ASKED: Final = r"\W*(?:(?:please|ok(?:ay)?|and|can\ you|could\ you)\W+)*(?:%s)(?:\W+please)?\W*"
_ON: Final = r"""
      (?:tell|show|give)\ me\ (?:some\ )?more(?:\ details?)?|more(?:\ details?|\ please)?|in\ more\ detail|(?:what|anything|something)\ else
    | go\ on|continue|carry\ on|keep\ going|elaborate
    | (?:erzähl(?:e|\ mir)?\ )?mehr(?:\ dazu)?|weiter|was\ noch|dis-m['’]en\ plus|plus(?:\ de\ détails)?|continuez?|quoi\ d['’]autre
    | más(?:\ detalles)?|cuéntame\ más|sigue|qué\ más"""
_ANEW: Final = r"""
      are\ you\ sure|really
    | (?:simpler|shorter|in\ short|in\ other\ words)|what\ do\ you\ mean(?:\ by\ (?:that|it))?|(?:explain|say|try)\ again|again"""
_MORE: Final = re.compile(_ASKED % f"{_ON}|{_ANEW}", re.VERBOSE | re.IGNORECASE)
_FURTHER: Final = re.compile(
    rf"""{_ASKED % _ON}
    | \W*(?:(?:and|but|so)\W+)?(?:(?:is\ there\W+)?(?:anything|anyone|something|someone)|what|who|where|when|how|everything)\ else\b(?!.*\bthan\b).*
    | .*\b(?:another|more)\ (?:examples?|details?|info(?:rmation)?)\b.*
    | .*\b(?:(?:tell|show|give)\ (?:me|us)|(?:want|like)\ to\ (?:know|hear|learn|read))\ (?:(?:some|even|a\ bit)\ )?(?:more|everything\ else)\b.*
    | (?:what\ more\ is\ there|was\ gibt\ es\ noch|(?:erzähl|sag)e?\ (?:mir|uns)\ (?:noch\ )?mehr|dis-m['’]en\ plus\ sur|cuéntame\ más\ sobre)\b.*""",
    re.VERBOSE | re.IGNORECASE,
)
_TELLS: Final = re.compile(
    r"\W*(?:please\ )?(?:tell\ me\ (?:some\ )?more|go\ on|continue|carry\ on|keep\ going|elaborate)\W*",
    re.VERBOSE | re.IGNORECASE,
)
_SAMPLE: Final = re.compile(
    r"\W*(?:and\s+)?(?:(?:please\s+)?give\s+(?:me\s+)?(?:an?|some|another)\s+examples?|(?:for|an(?:other)?)\s+example|examples?|like\s+what|such\s+as)(?:\s+please)?\W*",
    re.IGNORECASE,
)
_ANY_SAMPLE: Final = re.compile(
    r"\W*(?:(?:can|could)\s+you\s+)?(?:give|show|have|zum|par|por|ein|un)\b.{0,20}\b(?:example|beispiel|exemple|ejemplo)s?\W*",
    re.IGNORECASE,
)


def _more(text: str, old: str, about: About) -> str:
    if not _MORE.fullmatch(text):
        return ""
    return (
        f"Tell me more about {about.text}"
        if about.is_noun and _TELLS.fullmatch(text)
        else f"{old}{'?' if _is_question(old) else ''}"
    )


def _example(text: str, old: str, about: About) -> str:
    if _SAMPLE.fullmatch(text) and about.is_noun:
        return f"Give an example of {about.text}"
    return (
        _bracketed(text, old, about)
        if _SAMPLE.fullmatch(text) or _ANY_SAMPLE.fullmatch(text)
        else ""
    )


# A bare “why?”

_PLACE: Final = r"(?:in|on|at|for|with|without|during|under|after|before|from|to|by|of|about|bei|mit|ohne|für|auf|im|über|en|au|aux|pour|avec|sans|sur|para|con|sin|sobre)"
_BARE: Final = re.compile(
    rf"\W*(?P<and>(?:and|but|so|und|aber|et|mais|y|pero)\s+)?(?P<asked>(?:{_PLACE}\s+|since\s+|seit\s+|depuis\s+)?(?:{WHO})(?:\s+(?:so\s+\w+|not|so|exactly|then|exactement|genau|many|much|long|often|far))?)\s*\?*",
    re.IGNORECASE,
)
_DIRECT: Final = re.compile(rf"(?:(?:how|when|where|why)\s+)?(?P<rest>{IS}\s+\w.*)", re.IGNORECASE)
_AND: Final = (
    (r"wie|warum|wieso|weshalb|wann|wo|wer|wen|wem|wozu", "und"),
    (r"comment|pourquoi|quand|où|qui|combien", "et"),
    (r"qué|cómo|por qué|cuándo|dónde|quién", "y"),
)


def _bare(text: str, old: str, about: About) -> str:
    found = _BARE.fullmatch(text)
    if not found:
        return ""
    asked = found["asked"].casefold()
    direct = _DIRECT.fullmatch(old)
    if direct and asked in ("how", "when", "where", "why"):
        return f"{asked} {direct['rest'][:1].casefold()}{direct['rest'][1:]}?"
    joined = next((word for words, word in _AND if re.match(rf"(?:{words})\b", asked)), "and")
    return f"{old}, {joined} {asked}{' ' if joined == 'et' else ''}?"


# Another place or thing

_JOINED: Final = r"(?:and|but|or|und|aber|et|mais|y|pero)"
_OTHER: Final = re.compile(
    rf"\W*(?:(?:{_JOINED}\s+)?(?:what|how)\s+about|{_JOINED}|was\s+ist\s+mit|wie\s+ist\s+es\s+mit|qu['’]en\s+est-il\s+de|qué\s+tal)\s+(?P<that>\S.*?)\s*[?.!]*",
    re.IGNORECASE,
)
_JUST: Final = re.compile(r"(?P<that>[^\s?][^?]*?)\s*\?+")
_PLACED: Final = re.compile(rf"(?P<how>{_PLACE})\s+\S.*", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"(?:the|its|their)\s+(?P<what>[\w'’-]+(?:\s+[\w'’-]+)?)", re.IGNORECASE
)
_THE: Final = re.compile(
    r"(?:the|an?|der|die|das|den|eine?|le|la|les|une?|el|los|las)\s+", re.IGNORECASE
)
_HEIGHT: Final = re.compile(
    r"(?P<asked>wie\s+\w+\s+(?:ist|sind|war)|how\s+\w+\s+(?:is|are|was|were))\s+(?P<that>\S.*)",
    re.IGNORECASE,
)


def _other(text: str, old: str, about: About) -> str:
    found = _OTHER.fullmatch(text) or _JUST.fullmatch(text)
    that = found["that"] if found else ""
    if (
        not that
        or len(that.split()) > MAX_SHORT
        or asks(that)
        or coreference.leans(that)
        or _DIFFERENCE.match(that)
    ):
        return ""
    placed = _PLACED.fullmatch(that)
    return (
        _elsewhere(that, placed["how"], old)
        if placed
        else _attribute(that, old, about) or _instead(that, old, about)
    )


def _elsewhere(that: str, how: str, old: str) -> str:
    """Put another place in: instead of the one that the question before ends with, else behind it."""
    place = re.search(rf"(?<!\w){how}\s+(?!.*(?<!\w){how}\s)\S.*$", old, re.IGNORECASE)
    return f"{old[: place.start()] if place else f'{old} '}{that}{_mark(old)}"


def _attribute(that: str, old: str, about: About) -> str:
    """Ask for another side of the same: “and the cost?” of what was asked about."""
    what = _ATTRIBUTE.fullmatch(that)
    is_owner = about.is_noun and (
        " of " in about.text or not about.text.casefold().startswith("the ")
    )
    if not what or not is_owner or not re.match(r"what\b", old, re.IGNORECASE):
        return ""
    owner = about.text.rpartition(" of ")[2]
    return f"what {'are' if what['what'].endswith('s') and not what['what'].endswith('ss') else 'is'} the {what['what']} of {owner}?"


def _instead(that: str, old: str, about: About) -> str:
    """Put another thing in the place of the one that was asked about; in front of the question where that is not known."""
    height = _HEIGHT.fullmatch(old)
    thing = (
        height["that"]
        if height
        else about.text.rpartition(" of ")[2]
        if about.is_noun
        else _last(old, that)
    )
    if thing and thing in old:
        head, _, tail = old.rpartition(thing)
        lone = _THE.sub("", that, count=1) if re.search(r"\bthe\s+$", head) else that
        return f"{head}{lone}{tail}{_mark(old)}"
    return f"{that}: {old[:1].casefold()}{old[1:]}{_mark(old)}"


def _last(old: str, that: str) -> str:
    """Return what another thing of its kind can stand for: what follows on “about”, the only one with an article, or with a capital."""
    found = re.search(r"\b(?:about|on)\s+(?:the\s+)?(?P<that>[\w'’-]+)$", old, re.IGNORECASE)
    alike = _WITH_ARTICLE if _THE.match(that) else _WITH_CAPITAL if that[:1].isupper() else None
    ones = [one[0] for one in alike.finditer(old, 1)] if alike else []
    return found["that"] if found else ones[0] if len(ones) == 1 else ""


_WITH_ARTICLE: Final = re.compile(
    r"\b(?:the|an?|der|die|das|den|le|la|les|el|los|las)\s+[\w'’-]+", re.IGNORECASE
)
_WITH_CAPITAL: Final = re.compile(r"(?<=\s)[A-ZÀ-Þ][\w'’-]*(?:\s+[A-ZÀ-Þ][\w'’-]*)*")

# A correction

_MEANT: Final = re.compile(
    r"\W*(?:(?:no|nein|non|sorry)\b\W*)?(?:(?:i|we)\s+(?:meant?|was\s+asking\s+about|am\s+asking\s+about)|ich\s+mein(?:t)?e|je\s+voulais\s+dire|quería\s+decir"
    r"|not\s+that\W+)\s+(?P<that>\S.*)|(?:no|nein|non),\s+(?P<just>[^,]{1,60})",
    re.IGNORECASE,
)


def _meant(text: str, old: str, about: About) -> str:
    found = _MEANT.fullmatch(text)
    if not found:
        return ""
    that = (found["that"] or found["just"]).rstrip("?.! ")
    if found["just"] and (asks(that) or len(that.split()) > MAX_SHORT):
        return ""
    return f"{that}?" if asks(that) else _instead(that, old, about)


# Pronouns

_CONJUNCTION: Final = re.compile(
    rf"^\W*(?:(?:ok(?:ay)?|yes|right|great|thanks)\W+)?(?:{_JOINED}|so|also|then)\b,?\s+(?=\S)",
    re.IGNORECASE,
)
_OWN: Final = (
    3  # words of its own, from which on a question that begins with “and” is understood by itself
)
_NAMES: Final = re.compile(
    r"\W*(?:what|who|was|wer|qui|qu['’]est|qué|quién)\b(?!\s+(?:is|are|was|were)\s+the\b)",
    re.IGNORECASE,
)
_DIFFERENCE: Final = re.compile(r"(?:any\s+)?differences?\s+(?:to|from|with)\b", re.IGNORECASE)
_WHICH: Final = re.compile(r"which\s+(?:is|was|are|were)\b", re.IGNORECASE)
_RELATIVE: Final = frozenset(
    (
        *(
            "alternative",
            "alternatives",
            "difference",
            "differences",
            "advantage",
            "advantages",
            "disadvantage",
            "disadvantages",
            "drawback",
            "drawbacks",
            "cost",
        ),
        *(
            "costs",
            "price",
            "reason",
            "reasons",
            "result",
            "results",
            "consequence",
            "consequences",
            "counterargument",
            "counterarguments",
            "limitation",
        ),
        *(
            "limitations",
            "benefit",
            "benefits",
            "number",
            "numbers",
            "detail",
            "details",
            "exception",
            "exceptions",
            "proof",
            "evidence",
            "weakness",
            "weaknesses",
        ),
    )
)
_OTHERS: Final = re.compile(
    r"\bthen\s*\?*$|\b(?:which\s+(?:one|of\s+(?:them|these|those|the\s+two))|the\s+(?:former|latter|first|second|other|last)(?:\s+one)?(?=\s*\?|\s+is\b))",
    re.IGNORECASE,
)


def _leaning(text: str, old: str, about: About) -> str:
    alone = (
        _CONJUNCTION.sub("", text, count=1)
        if _is_question(_CONJUNCTION.sub("", text, count=1))
        else text
    )
    its, own = set(content(about.text)), set(content(alone))
    if not its or (its <= own and _numbers(about.text) <= _numbers(alone)):
        return _begun(alone) if alone != text else text
    goes_on = (
        alone != text
        and len(own) < _OWN
        and not (_NAMES.match(alone) and coreference.subject(alone).is_noun)
    )
    if _OTHERS.search(alone) or _is_of_it(alone, own) or (goes_on and not coreference.leans(alone)):
        return _begun(_bracketed(alone, old, about))
    if not coreference.leans(alone):
        return _begun(alone) if alone != text else text
    if not (own or asks(alone)):
        return text
    has_place = about.is_noun and coreference.put_in(alone, about) != f"{alone} ({about.text})"
    return _begun(coreference.put_in(alone, about) if has_place else _bracketed(alone, old, about))


def _is_of_it(text: str, own: set[str]) -> bool:
    """Say whether all that is asked for is something that only another thing has: an alternative, a cost."""
    if coreference.leans(text):
        return False
    return (
        (bool(own) and own <= _RELATIVE and asks(text))
        or bool(_DIFFERENCE.match(text))
        or (len(own) < 2 and bool(_WHICH.match(text)))
    )


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _bracketed(text: str, old: str, about: About) -> str:
    return f"{text} ({about.text if about.is_noun else old[:1].casefold() + old[1:]})"


def _is_question(text: str) -> bool:
    return bool(
        re.match(
            rf"\W*(?:(?:at|in|on|by|for|with|from|to)\s+)?(?:{WHO}|{IS}|was)\b", text, re.IGNORECASE
        )
    )


def _mark(old: str) -> str:
    return (
        ""
        if not _is_question(old)
        else " ?"
        if re.match(r"(?:comment|combien|qui|quand|où|pourquoi|quel)", old, re.IGNORECASE)
        else "?"
    )


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
