"""The lexicon: the inverted index of all chunks.

A chunk's position is its number in the whole library; positions ascend and are never reused. Each
source has an entry with its chunks' terms. A merge gathers entries into packs of 65,536 positions:
one block per term, and the chunks' lengths.
"""

from django.db import models
from django.db.models import Index, Q

from citations.models.sources import Source


class LexEntry(models.Model):
    """The terms of a source's chunks at positions ``first`` to ``first + count − 1``.

    A merged entry has no ``data``: the packs have it. An entry without a source is a tombstone: the
    source was deleted or has a newer entry, and its postings, even if merged, no longer count.
    """

    source = models.OneToOneField(Source, models.SET_NULL, null=True, related_name="+")
    first = models.BigIntegerField(unique=True)
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    merged = models.BooleanField(default=False, help_text="Its postings are in the packs.")
    tokenizer_version = models.PositiveSmallIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("first",)
        # Every search reads these: entries not in the packs yet, and tombstones.
        indexes = (
            Index(fields=("id",), condition=Q(merged=False) | Q(source=None), name="lexentry_open"),
        )

    def __str__(self) -> str:
        return f"places {self.first} to {self.first + self.count - 1}"


class LexPack(models.Model):
    """65,536 consecutive positions: the count, total and individual lengths of its chunks.

    The count and total are without the ``dead`` chunks: runs of positions whose postings are still
    in the blocks. ``version`` is that of the merge that wrote the lengths. Versions of a pack or
    block are never reused, so that they can be cached.
    """

    pack = models.PositiveIntegerField(primary_key=True)
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    data = models.BinaryField()
    dead = models.BinaryField(default=b"")

    def __str__(self) -> str:
        return f"pack {self.pack}"


class LexBlock(models.Model):
    """The postings of a term in one pack; ``skyline`` bounds their scores (see ``postings``)."""

    pk = models.CompositePrimaryKey("term", "pack")
    term = models.TextField(db_collation="C")
    pack = models.PositiveIntegerField()
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    skyline = models.BinaryField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.term} in pack {self.pack}"
