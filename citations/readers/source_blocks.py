"""The blocks of a stored source, whatever its kind."""

from citations.models import Document, Source, SourceKind
from citations.readers import stored_document, transcript
from citations.text.blocks import Block


def read(source: Source) -> list[Block]:
    """Return the blocks of a source in order, none if its text is missing."""
    if source.kind == SourceKind.VIDEO:
        return transcript.read(source.transcript) if source.transcript is not None else []
    document = Document.objects.filter(source=source).first()
    return stored_document.read(document) if document is not None else []
