"""Index again what the settings or the readers of documents would do otherwise today."""

from django.db.models import Q

from citations.documents import storage as document_storage
from citations.library import sources
from citations.models import Source, SourceQuerySet


def stale() -> SourceQuerySet:
    """Return the sources that were split with other sizes, or read by another version."""
    everything = Source.objects.all()
    split = sources.split_otherwise(everything).values("pk")
    read = document_storage.read_otherwise(everything).values("pk")
    return everything.filter(Q(pk__in=split) | Q(pk__in=read))


def renew() -> int:
    """Queue what is stale; return how many sources. Each is found as it was till it is replaced."""
    return stale().start_anew()
