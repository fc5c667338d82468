"""What the stages of a search and of an answer, and the rules that drop a hit, are called, on every
door.
"""

from typing import Final

from django.utils.translation import gettext_lazy

from citations.passages import DropRule

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

RULES: Final = {
    DropRule.FILTER: gettext_lazy("outside the filters"),
    DropRule.QUERY: gettext_lazy("without a quoted phrase, or with an excluded word"),
    DropRule.CANDIDATES: gettext_lazy("too far down by words and by meaning to be compared"),
    DropRule.DUPLICATE: gettext_lazy("says almost the same as a better passage"),
    DropRule.NEIGHBOUR: gettext_lazy("stands beside a better passage and is shown with it"),
    DropRule.SHARE: gettext_lazy("its source has enough better passages"),
    DropRule.FLOOR: gettext_lazy("probably not on the subject"),
    DropRule.LIMIT: gettext_lazy("below the last passage that is listed"),
}


def rule_name(rule: str) -> str:
    """Say why a passage is not listed."""
    return str(RULES[DropRule(rule)])


def stage_name(name: str) -> str:
    """Say what a stage does."""
    return str(LABELS.get(name, name))
