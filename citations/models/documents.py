"""Documents: the bytes of a file as they were given, and its pages as they were read."""

from django.db import models

from citations.models.sources import Source


class Document(models.Model):
    """The file that a source was made from. Its bytes are in the database: a backup holds them, and every worker reaches them."""

    source = models.OneToOneField(
        Source, on_delete=models.CASCADE, primary_key=True, related_name="document"
    )
    name = models.CharField(max_length=300, help_text="The file's name, as it was given.")
    media_type = models.CharField(max_length=60)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    digest = models.CharField(max_length=64, db_index=True, help_text="SHA-256 of the bytes.")
    read_by = models.CharField(
        max_length=40,
        blank=True,
        help_text="Which reader, in which version, made the pages; empty: they are not all there yet.",
    )
    page_count = models.PositiveIntegerField(default=0)
    outline = models.JSONField(
        default=list, blank=True, help_text="[[level, title, page], …], in order."
    )
    note = models.TextField(
        blank=True, help_text="What the reader noticed: pages without text, a broken text layer."
    )

    def __str__(self) -> str:
        return self.name


class DocumentPart(models.Model):
    """About a megabyte of a document's bytes."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("document_id", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=("document", "ordinal"), name="document_part_once"),
        )

    def __str__(self) -> str:
        return f"{self.document_id} · {self.ordinal}"


class Page(models.Model):
    """The text of one page. The source's text is its pages' texts, each at its ``start``; of a file without pages, a page is about 3,000 characters."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    label = models.CharField(
        max_length=40,
        blank=True,
        help_text="The number that is printed on it, such as xii, where the file tells it.",
    )
    start = models.PositiveIntegerField(
        help_text="Where it begins in the source's text, in characters."
    )
    text = models.TextField(blank=True)
    blocks = models.JSONField(
        default=list,
        blank=True,
        help_text="Its paragraphs: [[first, last character in the page's text, heading, begins something new], …].",
    )

    class Meta:
        ordering = ("document_id", "number")
        constraints = (models.UniqueConstraint(fields=("document", "number"), name="page_once"),)

    def __str__(self) -> str:
        return f"{self.document_id} · page {self.number}"
