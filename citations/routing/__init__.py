"""What a question wants: one fact or an overview, once or in several parts. Pure; what needs a model is passed in."""

from citations.routing.meaning import Embed
from citations.routing.parts import MAX_PARTS, split
from citations.routing.routes import MEANING, RULES, route
from citations.routing.rules import by_rules, has_subject
from citations.routing.subject import about

__all__ = ["MAX_PARTS", "MEANING", "RULES", "Embed", "about", "by_rules", "has_subject", "route", "split"]
