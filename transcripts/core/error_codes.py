"""Errors by their codes."""

from transcripts.core.errors import KnowledgeBaseError


def rebuilt(code: str, message: str, hint: str) -> KnowledgeBaseError:
    """Rebuild an error of which a row or an answer has only the texts."""
    kind = classes().get(code, KnowledgeBaseError)
    error = kind.__new__(kind)
    KnowledgeBaseError.__init__(error, message, hint=hint)
    return error


def classes() -> dict[str, type[KnowledgeBaseError]]:
    """Return the classes of errors that are loaded, by their codes; of several, the widest."""
    kinds: dict[str, type[KnowledgeBaseError]] = {}
    pending: list[type[KnowledgeBaseError]] = [KnowledgeBaseError]
    while pending:
        kind = pending.pop()
        if issubclass(kinds.setdefault(kind.code, kind), kind):
            kinds[kind.code] = kind
        pending += kind.__subclasses__()
    return kinds
