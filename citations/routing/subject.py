"""What an overview is wanted of."""

from citations.routing.rules import has_subject


def about(part: str) -> str:
    """Return the words of a question that name what it is about, in their order; nothing where it is the sources as a whole.

    “Give me an overview of how computers keep time” is looked up as “computers keep time”: the other words are near any text that sums something up.
    """
    return " ".join(word for word in part.split() if has_subject(word)).strip(" ?？!.,;:")
