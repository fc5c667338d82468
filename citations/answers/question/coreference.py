"""What a question leans on: its pronouns, and what an earlier question was about that can stand in their place."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from citations.answers.question.words import IS, WHO, content
from transcripts.tokenizer import tokenize

MAX_ABOUT: Final = 200  # characters of an earlier question that a later one is told


class About(NamedTuple):
    """What a question is about, whether that can stand for a pronoun, and whether it is several things; ``done``: who did what to it."""

    text: str = ""
    is_noun: bool = False
    is_plural: bool = False
    done: str = ""


def subject(question: str) -> About:
    """Return what follows “what is” or “explain” in the last sentence that has it, else the words that say something."""
    for sentence in reversed(_ENDS.split(question)):
        asked = _SUBJECT.fullmatch(sentence.strip())
        if asked and not _NO_NOUN.search(asked["that"]):
            return About(
                asked["that"][:MAX_ABOUT],
                is_noun=True,
                is_plural=bool(asked["many"]),
                done=f"who {asked['did']} {asked['that']}" if asked["did"] else "",
            )
        done = _DONE.fullmatch(sentence.strip())
        noun = (done["that"] or done["das"] or done["ce"]) if done else ""
        if noun and not _NO_NOUN.search(noun) and not any(_pronouns(noun)):
            return About(noun[:MAX_ABOUT], is_noun=True)
    said = frozenset(content(_ORDER.sub("", question)))
    words = [
        word.strip("?.,!;:¿¡()") for word in question.split() if said.intersection(tokenize(word))
    ]
    return About(" ".join(words)[:MAX_ABOUT], is_noun=len(words) == 1)


def leans(question: str) -> bool:
    """Say whether a question cannot be understood without another: it has a pronoun, or nothing that it is about."""
    return any(_pronouns(question)) or bool(_BARE.search(question)) or not content(question)


def put_in(question: str, about: About) -> str:
    """Return a question with what it is about in the place of its first pronoun, else in brackets behind it."""
    is_person = about.text[:1].isupper() and not about.done
    back = next(
        (one for one in _pronouns(question) if is_person or one[0].casefold() not in _PERSON), None
    )
    if back is None or not about.is_noun:
        return f"{question} ({about.done or about.text})"
    owning = back["own"] is not None
    text = (
        about.text.rpartition(" of ")[2]
        if about.is_plural and back[0].casefold() in ("it", "its")
        else about.text
    )
    return (
        f"{question[: back.start()]}{text}{_owned(text) if owning else ''}{question[back.end() :]}"
    )


def _owned(text: str) -> str:
    return "’" if text.endswith("s") else "’s"


def _pronouns(question: str) -> Iterator[re.Match[str]]:
    for one in _BACK.finditer(question):
        if one["shown"] is None or _BEFORE_SHOWN.search(
            question, max(0, one.start() - 12), one.start()
        ):
            yield one


_PERSON: Final = frozenset(("he", "she", "him", "his", "her"))
_ENDS: Final = re.compile(r"(?<=[.!?;])\s+")
_ARTICLE: Final = (
    r"(?:(?:the|an?|eine?|eine[nmr]|der|die|das|dem|den|le|la|les|une?|el|los|las|una)\s+|l['’])?"
)
_NOUN: Final = rf"{_ARTICLE}[\w'’-]+(?:\s+[\w'’-]+){{0,3}}?"
_SUBJECT: Final = re.compile(
    rf"""
    \W*(?:and\s+|so\s+|ok(?:ay)?,?\s+)?(?:
      (?:what|who)(?:\s+(?:is|was|(?P<many>are|were))|['’]s) | (?:please\s+)?(?:define|explain|describe|summari[sz]e|outline)
    | tell\s+me\s+about | (?:what|how)\s+about
    | was\s+(?:ist|sind|war|waren) | wer\s+(?:ist|war) | erkläre? | qu['’]est-ce\s+qu(?:e|['’]) | qui\s+(?:est|était) | qué\s+(?:es|son) | quién\s+(?:es|fue)
    | who\s+(?P<did>invented|discovered|wrote|founded|proposed|introduced|developed|built|created|coined|proved)
    )\s* (?P<that>{_NOUN}(?:\s+(?:of|in|for|von|de|du|des)\s+{_NOUN})?) \s*[?.!,]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DONE: Final = re.compile(  # how it works, why it matters
    rf"""
    \W*(?:and\s+)?(?:how|why|when|where|what)\s+(?P<verb>{IS}|has|have)\s+ (?P<that>{_NOUN}) \s+
    (?:works?|used|happen|important|matter|defined|computed|calculated|measured|made|invented|needed|useful|done|called|mean|do|good\s+for|stand\s+for|trained)\s*[?.!]?
    | wie\s+funktioniert\s+(?P<das>{_NOUN})\s*\?? | comment\s+(?:fonctionne|marche)\s+(?P<ce>{_NOUN})\s*\??
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NO_NOUN: Final = re.compile(
    rf"(?:ed|\b(?:for|about|like|to|in|of|doing|it|this|that|them|by))$|(?<!\w)(?:{WHO})(?!\w)",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    rf"^\W*(?:please\s+)?(?:define|compare|list|name|outline|how\s+(?:long|much|many|often|far|old|large|big|{IS})|{IS}\s+there)\b",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    rf"""
    (?<![\w’'-])(?:
        (?P<own> its | their | his | her(?=\s+(?!(?:in|on|at|for|with|by|and|or|when|where|to|that|as)\b)\w) )
      | it (?!\s+(?:is|was)\s+(?:that|to)\b) (?!\s+(?:\w+\s+)?(?:true|possible|likely|clear|worth|important|necessary|safe|common|better|rain\w*)\b)
      | they | them | he | she | him | her | (?-i: er | sie | ihn | (?<!gibt\ )es | das(?=\s*\?) ) | ça | cela
      # those that may stand beside a noun, or begin a clause, where they do neither
      | (?P<shown> this | that | these | those ) (?= \s*(?:$|[?.!,;:)])
          | \s+(?:{IS}|in|on|at|for|with|by|than|and|or|work|mean|matter|help|happen|affect|compare|relate|differ|apply|change|look|lead|cause|come|\w+ly
            |important|useful|necessary|true|possible|so|different|better|worse|slow|fast|used|done|called|right|wrong|safe|easy|hard|enough|relevant)\b )
    )(?![\w’'-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_SHOWN: Final = re.compile(
    rf"(?:^|\b(?:{IS}|{WHO}|about|of|with|from|to|for|like|in|on|by|do|use|doing|than|after|before|and|but|explain|describe|define|show|prove|mean)\s)$",
    re.IGNORECASE,
)
_BARE: Final = re.compile(  # subjects that other languages leave out, or hang to the verb
    r"-(?:t-)?(?:ils?|elles?)\b|^¿?(?:y\s+)?(?:cómo|cuándo|dónde|por\s+qué|para\s+qué)\s+(?:se\s+)?\w+\s*\?*$|^¿?(?:quién|cómo|cuándo|dónde|por\s+qué)\s+(?:lo|la|los|las)\s+\w+\s*\?*$",
    re.IGNORECASE,
)
