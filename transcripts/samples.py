"""The sample library: three short talks to try Cuebase with."""

from pathlib import Path
from typing import Final

from django.db import transaction

from transcripts import files, storage
from transcripts.models import Collection
from transcripts.storage import StoredTranscript

FOLDER = Path(__file__).resolve().parent / "sample"
SHORT, LONG = "how-bm25-ranks", "when-a-service-says-no"
TAGS = ("sample",)
NAME: Final = "Sample library"


def load(collection: Collection | None = None) -> list[StoredTranscript]:
    """Store the samples, by default in a collection of their own."""
    target = (
        collection or Collection.objects.get_or_create(name=NAME, defaults={"slug": "samples"})[0]
    )
    stored = []
    with transaction.atomic():
        for selected in files.select(path.name for path in FOLDER.iterdir()):
            name, data = selected.name, (FOLDER / selected.name).read_bytes()
            info = (FOLDER / selected.info_name).read_bytes() if selected.info_name else None
            stored.append(storage.add_captions(target, data, name=name, info=info, tags=TAGS))
    return stored
