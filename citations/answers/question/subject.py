"""What an overview is wanted of."""

from typing import Final

from citations.answers.question.breadth_rules import has_subject
from transcripts.tokenizer import tokenize

_SAYING_NOTHING: Final = frozenset(
    " ".join(
        (
            "an textbook textbooks pdf pdfs lehrbuch buch aufnahme vorlesung so far add added upload uploaded save saved here everything bullet",
            "bullets number make made introduction compare argue argues say said says speaks talks tells presents explains quick quickly please",
            "concise high level main mainly bitte gib gebe mir uns kurz kurze kurzen knapp über von aus in alle allen alles ganze ganzen haupt",
            "wichtig wichtige wichtigste wichtigsten punkt punkte punkten thema themen thesen inhalt inhalte inhalts aussage aussagen vortrag",
            "vortrags vorträge video videos text texte textes quelle quellen sammlung dokument dokumente buches gesagt sagt erklärt beschreibe",
            "beschreiben erkläre erklären welche welcher welches moi nous bref brève brièvement principal principaux principale principales",
            "thème thèmes sujet sujets point points idée idées conférence cours document documents livre collection sources source quels",
            "quelles quel tout toute toutes tous cet ce cette ces donne donnez fais faites parlent dame dime haz breve brevemente este esta",
            "estos estas vídeo vídeos charla clase libro texto documento documentos fuentes colección tema temas punto puntos idea clave todo",
            "toda todos todas cuáles hablan",
        )
    ).split()
)


def about(part: str) -> str:
    """Return the words of a question that name what it is about, in their order; nothing where it is the sources as a whole.

    “Give me an overview of how computers keep time” is looked up as “computers keep time”: the other words are near any text that sums something up.
    """
    return " ".join(
        word
        for word in part.split()
        if has_subject(word) and not _SAYING_NOTHING.issuperset(tokenize(word))
    ).strip(" ?？!.,;:")
