"""What the stages of a search and of an answer are called, on every door."""

from typing import Final

from django.utils.translation import gettext_lazy

LABELS: Final = {
    "route": gettext_lazy("Reading the question"),
    "retrieve": gettext_lazy("Looking for passages"),
    "expand": gettext_lazy("Writing a likely answer to look for"),
    "embed": gettext_lazy("Reading its meaning"),
    "lexical": gettext_lazy("Search by words"),
    "vector": gettext_lazy("Search by meaning"),
    "fuse": gettext_lazy("Joining both lists"),
    "fetch": gettext_lazy("Fetching the passages"),
    "judge": gettext_lazy("Judging them"),
    "rerank": gettext_lazy("Reading the best passages again"),
    "deduplicate": gettext_lazy("Leaving out repetitions"),
    "enrich": gettext_lazy("Adding titles and places"),
    "spell": gettext_lazy("Correcting words"),
    "levels": gettext_lazy("Search in outlines"),
    "write": gettext_lazy("Writing"),
    "ground": gettext_lazy("Checking every quote"),
}


def stage_name(name: str) -> str:
    """Say what a stage does."""
    return str(LABELS.get(name, name))
