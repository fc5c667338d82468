"""How broad a question is by its wording, and whether it names a subject."""

import re
from typing import Final

from citations.answers.answer import Breadth
from citations.answers.question.words import MAX_RULED, asks, content

_SOURCES: Final = (
    r"(?:videos?|lectures?|talks?|courses?|documents?|papers?|books?|chapters?|articles?|recordings?|meetings?|interviews?|podcasts?|episodes?|sources?"
    r"|collections?|library|presentation|speech|conversation|notebook|series|transcripts?)"
)
_THESE: Final = r"(?:this|that|the|these|those|my|our|it|they)"
_CHIEF: Final = r"(?:main|key|central|major|overall|general|core|chief|primary|principal|(?:most\s+)?important|big(?:gest)?|broad(?:er)?|essential)"
_MATTER: Final = (
    r"(?:points?|thes[ie]s|topics?|ideas?|themes?|arguments?|findings?|concepts?|messages?|lessons?|conclusions?|subjects?|issues?|questions?|contents?|areas?"
    r"|claims?|threads?|results?)"
)
_BROAD: Final = re.compile(
    rf"""
    \b(?: summar(?:y|ies|i[sz]e[ds]?|i[sz]ing) | overview | ^(?:please\s+)?outline | outline\s+of
    | synopsis | recap | gist | tl;?dr | take-?aways? | big\ picture
    | in\ a\ nutshell | table\ of\ contents | highlights | bird['’]s[- ]eye | state\ of\ the\ art
    | {_CHIEF}\s+(?:\w+\s+)?{_MATTER}
    | (?:what|which)\s+(?:\w+\s+)?(?:topics|subjects|themes|areas|issues)\b
    | (?:topics|themes|subjects|issues|points)\s+(?:\w+\s+){{0,2}}(?:covered|discussed|addressed|raised|treated|touched)
    | what(?:\s+(?:is|are|was|were|do|does|did)|['’]s)\s+(?:all\s+)?{_THESE}(?:\s+\w+){{0,4}}?
      \s+(?:about|cover|discuss|deal\ with)\s*\??$
    | what(?:\s+(?:is|was)|['’]s)\s+(?:it|this|that)\s+(?:all\s+)?about
    | across\s+(?:all|the|these|my|our|several|different|every)\b | (?:all|each)\s+(?:of\s+)?(?:the\s+|these\s+|my\s+)?{_SOURCES}\b
    | (?:whole|entire)\s+(?:\w+\s+)?{_SOURCES}\b | in\ general\b | on\ the\ whole | as\ a\ whole
    | (?:everything\s+(?:on|that)|(?:everything|all)\s+(?:about|there\ is|you\ know))\b | what\s+(?:do|can|did|could)\s+(?:i|we|you|one)\s+learn
    | ^(?:please\s+)?(?:tell\ me|tell\ us|talk|teach\ me)\s+about | introduce\s+(?:me|us)\s+to | an\ introduction\s+to | overall\s*\??$
    | (?:themes|outcomes)\s+of\ (?:the|this|these|my)\b | from\ (?:start|beginning)\ to\ (?:finish|end) | up\ to\ (?:speed|date)\ (?:on|with)
    | catch\ me\ up | ^(?:please\ )?discuss | (?:mainly|mostly|chiefly)\s+about\s*\??$ | in\ common\s*\??$
    | history\ of | evolution\ of | development\ of
    | (?:pros\ and\ cons|strengths\ and\ weaknesses|advantages\ and\ disadvantages)
    | (?:what|which)(?:\s+are)?(?:\s+the)?\s+different\s+(?:kinds|types|approaches|methods|views|perspectives)
    | how\s+(?:is|are)\s+(?:the|this|these)\s+{_SOURCES}\s+(?:structured|organi[sz]ed) | walk\ me\ through
    | zusammenfass\w* | fass\w*\b.*\bzusammen | überblick | übersicht | hauptthemen | hauptaussagen | kernaussagen
    | wichtigsten?\s+(?:punkte|themen|ideen|aussagen|erkenntnisse|ergebnisse|argumente|inhalte|thesen|fragen) | welche\s+(?:themen|thesen|inhalte)\b
    | worum\ geht | wovon\ handelt | worüber\b.*\bgesprochen | im\ allgemeinen | insgesamt
    | résum(?:é|e[rz]?|ons) | quels\s+(?:sont\s+les\s+)?(?:thèmes|sujets)
    | aperçu | vue\ d['’]ensemble | grandes\ lignes | (?:idées|thèmes|points)\s+(?:principa(?:les|ux)|clés) | de\ quoi\ (?:parle|traite|s['’]agit)
    | qué\s+(?:temas|asuntos) | resum(?:en|ir|ido) | resume\ (?:el|la|los|las|est[ae])
    | visión\ general | (?:ideas|temas|puntos)\s+(?:principales|clave|centrales) | de\ qué\ (?:trata|habla) | en\ general )(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SPECIFIC: Final = re.compile(
    r"""
    ^(?:[\w\s,]{0,40}\b)? (?: when | where | who | whom | whose | how\ (?:many|much|long|often|far|old|tall|big|fast|large) | (?:at|in|on|by)\ (?:what|which)
    | (?:what|which)\ (?:year|date|day|time|number|percentage|page|value|name|version|formula|equation|unit
    |colou?r|command|button|menu|tool|key|symbol|term|word)s?
    | which\ (?!are|were|is|was|do|does)[\w-]+\ (?:is|was|do|does|did|should|can|could|has|have|will|would)
    | wann | wo | wer | wie\ (?:viele?|oft|lange|hoch|groß) | quand | où | qui | combien | cuándo | dónde | quién | cuánt[oa]s? )\b
    | ^(?:is|are|was|were|does|do|did|can|could|has|have|will|would|should)\b
    | ^(?:what|who)(?:\ (?:is|are|was|were)|['’]s)\ (?:the\ |an?\ )?(?:definition|meaning|name|value|formula|derivative|result)\ of\b
    | \b(?:define|definition)\b | \bstand(?:s)?\ for\b | ["“„«`] | \d | ^how\ (?:do|can|would|could|should|to)\b | ^what\ (?:happens|does\ [\w'’-]+\ mean)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FACT: Final = re.compile(  # whatever else it says: how one gets an overview is no question for one
    r"""
    (?:when|where|who|whose|how\ (?:many|much|long|often|far|old|to|(?:do|can|would|could|should)\ (?:i|we|you|one))
    |wann|wo|wer|wie\ (?:viele?|oft|lange|kann|macht)|quand|où|qui|combien|cuándo|dónde|quién)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"(?:please\s+)?(?:what|which|list|name|describe|discuss|was|welche\w?|quels?|quelles?|quoi|qué)\b",
    re.IGNORECASE,
)


def by_rules(part: str) -> Breadth | None:
    """Say how broad a question is by its wording; None where that says nothing.

    What asks nothing wants the place where it is explained, as a heading does.
    """
    text = " ".join(part[:MAX_RULED].split())
    if _FACT.match(text):
        return Breadth.SPECIFIC
    if _BROAD.search(text) or (_WHOLE.match(text) and content(text) and not has_subject(text)):
        return Breadth.BROAD
    return Breadth.SPECIFIC if _SPECIFIC.search(text) or not asks(text) else None


_GENERAL: Final = re.compile(
    r"(?:summary|summaries|summari[sz]e|summari[sz]ation|overview|outline|synopsis|recap|gist|tl|dr|tldr|takeaway|take|away|highlight|main|key|central|major"
    r"|overall|general|core|chief|primary|principal|important|most|big|biggest|broad|essential|point|topic|idea|theme|argument|finding|concept|message|lesson"
    r"|conclusion|subject|issue|question|content|area|claim|thread|result|video|lecture|talk|course|document|paper|book|chapter|article|recording|meeting"
    r"|interview|podcast|episode|source|collection|library|libraries|notes|material|text|presentation|speech|section|conversation|series|transcript|file|pdf"
    r"|whole|entire|all|every|everything|each|brief|briefly|short|long|detail|sentence|paragraph|word|cover|discuss|address|addresse|raise|learn|speak|speaker|happen|outcome|kind|got|list|miss|present|thesis|theses"
    r"|author|presenter|picture|nutshell|give|write|come|up|structure|need|know|want|remember|see|get|today|deal|one|two|three|four|five|ten|across|through"
    r"|zusammenfassung|zusammen|fasse|fass|überblick|übersicht|hauptthemen|hauptaussagen|kernaussagen|worum|wovon|geht|handelt|vorlesung|diese[mnrs]?|im"
    r"|résumer?|résumez|aperçu|parle|vidéo|cette|quoi|resumen|resume|ideas|principales|trata|habla)(?:s|d|ed|ing)?"
)


def has_subject(part: str) -> bool:
    """Say whether a question names what it is about, beyond the texts as a whole: “What is the lecture about?” does not."""
    return any(not _GENERAL.fullmatch(word) for word in content(part[:MAX_RULED]))
