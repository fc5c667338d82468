"""Errors that nobody foresaw in what reads files, as expected errors of these files."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from transcripts.core.errors import KnowledgeBaseError

logger = logging.getLogger(__name__)


@contextmanager
def told_as(
    kind: type[KnowledgeBaseError], message: str, *, hint: str | None = None
) -> Iterator[None]:
    """Raise an expected error instead of an unexpected one, whose traceback goes to the log.

    ``OSError`` passes: it is about the machine, such as a full disk, and the file may be read
    later. Decorates functions, too; in a generator, it has to be a block.
    """
    try:
        yield
    except (KnowledgeBaseError, OSError):
        raise
    except Exception as error:
        logger.exception("%s", message)
        raise kind(message, hint=hint) from error
