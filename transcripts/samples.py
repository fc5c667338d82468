"""The sample library: three short talks to try Cuebase with."""

from pathlib import Path

from django.db import transaction

from transcripts.adding import files, storage
from transcripts.adding.storage import StoredTranscript
from transcripts.models import Collection
from transcripts.models.collections import SAMPLES_NAME

FOLDER = Path(__file__).resolve().parent / "sample"
SHORT, LONG = "how-bm25-ranks", "when-a-service-says-no"
TAGS = ("sample",)


def load(collection: Collection | None = None) -> list[StoredTranscript]:
    """Store the samples, by default in a collection of their own."""
    of_their_own = Collection.objects.get_or_create
    target = collection or of_their_own(name=SAMPLES_NAME, defaults={"slug": "samples"})[0]
    stored = []
    with transaction.atomic():
        for selected in files.select(path.name for path in FOLDER.iterdir()):
            name, data = selected.name, (FOLDER / selected.name).read_bytes()
            info = (FOLDER / selected.info_name).read_bytes() if selected.info_name else None
            stored.append(storage.add_captions(target, data, name=name, info=info, tags=TAGS))
    return stored
