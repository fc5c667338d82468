"""The lexicon: which words every chunk says, in a form that can be ranked without reading the chunks.

A place is a chunk's number in the whole library; places are given out in ascending order and never again. Each source has an entry with the words of
its chunks. A merge gathers entries into packs of 65,536 places: a pack has one block per word, and the lengths of its chunks.
"""

from django.db import models
from django.db.models import Q

from citations.models.sources import Source


class LexEntry(models.Model):
    """The words of one source's chunks, at the places ``first`` to ``first + count − 1``; written once, never changed.

    An entry without a source is a tombstone: its source is gone or has a newer entry, and its postings, if they are in the packs already, no longer count.
    """

    source = models.OneToOneField(Source, on_delete=models.SET_NULL, null=True, related_name="+")
    first = models.BigIntegerField(unique=True)
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    merged = models.BooleanField(default=False, help_text="Its postings are in the packs.")
    tokenizer_version = models.PositiveSmallIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("first",)
        # What every search looks at: entries that the packs do not hold yet, and those that they should no longer hold.
        indexes = (
            models.Index(
                fields=("id",), condition=Q(merged=False) | Q(source=None), name="lexentry_open"
            ),
        )

    def __str__(self) -> str:
        return f"places {self.first} to {self.first + self.count - 1}"


class LexPack(models.Model):
    """65,536 consecutive places: how many chunks are merged into it, how many words they have in all, and how many each.

    ``version`` is that of the merge that wrote it last. No two versions of a pack or block are the same, so that they can be kept in memory.
    """

    pack = models.PositiveIntegerField(primary_key=True)
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"pack {self.pack}"


class LexBlock(models.Model):
    """Where a word is said within one pack, and how often: ``count`` postings. ``skyline`` bounds their scores (see ``citations.lexical.postings``)."""

    pk = models.CompositePrimaryKey("term", "pack")
    term = models.TextField(db_collation="C")
    pack = models.PositiveIntegerField()
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    skyline = models.BinaryField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.term} in pack {self.pack}"
