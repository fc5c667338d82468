"""Documents: the bytes of a file, and the pages read from it."""

from django.db import models
from django.db.models import UniqueConstraint

from citations.formats import FORMATS, DocumentFormat
from citations.models.sources import Source
from citations.passages import pages


class Document(models.Model):
    """The file of a source. The database holds its bytes, so backups and all workers have them."""

    source = models.OneToOneField(Source, models.CASCADE, primary_key=True, related_name="document")
    name = models.CharField(max_length=300, help_text="The original file name.")
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    digest = models.CharField(max_length=64, db_index=True, help_text="SHA-256 of the bytes.")
    read_by = models.CharField(
        max_length=40, blank=True, help_text="Name and version of the reader; empty: not finished."
    )
    page_count = models.PositiveIntegerField(default=0)
    outline = models.JSONField(default=list, blank=True, help_text="[[level, title, page], …]")
    note = models.TextField(blank=True, help_text="Findings of the reader.")
    unread_pages = models.JSONField(
        default=list, blank=True, help_text="Numbers of pages whose words OCR could read."
    )
    awaits_ocr = models.BooleanField(
        default=False, help_text="Pages without words are to be read by OCR."
    )

    def __str__(self) -> str:
        return self.name

    @property
    def format(self) -> DocumentFormat:
        return FORMATS[self.media_type]

    @property
    def is_read_otherwise(self) -> bool:
        """Whether another version of its reader than today's has read it to its end."""
        return self.read_by not in ("", self.format.version)


class OcrResult(models.Model):
    """What OCR has read on a page of a document; kept, as it takes seconds."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="ocr_results")
    number = models.PositiveIntegerField(help_text="Of the page, counted from 1.")
    engine = models.CharField(max_length=80, help_text="Which program and models have read it.")
    score = models.FloatField(help_text="How sure it is on average, 0 to 1; 0 without words.")
    is_readable = models.BooleanField(help_text="Whether its words can be those of the page.")
    page = models.JSONField(help_text="An ``OcrPage``.")

    class Meta:
        ordering = ("document_id", "number")
        constraints = (UniqueConstraint(fields=("document", "number"), name="ocr_once"),)

    def __str__(self) -> str:
        return f"{self.document_id} · {pages(self.number)}"


class DocumentPart(models.Model):
    """About one megabyte of a document's bytes."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("document_id", "ordinal")
        constraints = (UniqueConstraint(fields=("document", "ordinal"), name="document_part_once"),)

    def __str__(self) -> str:
        return f"{self.document_id} · {self.ordinal}"


class Page(models.Model):
    """The text of a page, or of about 3,000 characters; the source's text has it at ``start``."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField(help_text="Counted from 1.")
    label = models.CharField(
        max_length=40, blank=True, help_text="The printed number, such as xii."
    )
    start = models.PositiveIntegerField(help_text="Offset in the source's text.")
    is_slide = models.BooleanField(default=False)
    text = models.TextField(blank=True)
    html = models.TextField(
        blank=True, help_text="The same words with their markup, not yet sanitised."
    )
    blocks = models.JSONField(
        default=list,
        blank=True,
        help_text="Paragraphs: [[first, last character in the page, heading, starts a section]].",
    )

    class Meta:
        ordering = ("document_id", "number")
        constraints = (UniqueConstraint(fields=("document", "number"), name="page_once"),)

    def __str__(self) -> str:
        return f"{self.document_id} · {pages(self.number)}"

    @property
    def length(self) -> int:
        """The characters up to the end of the last paragraph; headers and footers follow."""
        return int(self.blocks[-1][1]) if self.blocks else 0

    @property
    def end(self) -> int:
        """Offset in the source's text."""
        return self.start + self.length
