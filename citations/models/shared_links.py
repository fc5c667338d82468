"""Links that show one highlight, answer, page or clip to people without an account, and what they
play: clips, cut out of the audio and video files of recordings.
"""

import uuid
from collections.abc import Collection
from typing import Final

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from citations.models.answers import Answer, Conversation
from citations.models.readers import Highlight
from citations.models.sources import Source
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path
from transcripts.models import FilePart, MediaFile, PlayableFile
from transcripts.text.reading import cut_at_word

SHOWN: Final = 80  # characters of what a link is called


class SharedLinkQuerySet(models.QuerySet["SharedLink"]):
    def of(self, scope: Scope, user: User | None) -> "SharedLinkQuerySet":
        """Keep one author's (None: the local user) to what the scope may read."""
        conversations = Conversation.objects.of(scope, user)
        return self.filter(
            Q(highlight__source__in=Source.objects.visible(scope))
            | Q(answer__conversation__in=conversations)
            | Q(source__in=Source.objects.visible(scope)),
            author=user,
        )

    def showing(self, collections: Collection[int]) -> "SharedLinkQuerySet":
        """Keep those that show something of these collections."""
        quoting = Answer.objects.filter(citations__source__collection__in=collections)
        return self.filter(
            Q(highlight__source__collection__in=collections)
            | Q(answer__in=quoting)
            | Q(source__collection__in=collections)
        )

    def expired(self) -> "SharedLinkQuerySet":
        return self.filter(expires_at__lte=Now())

    def unexpired(self) -> "SharedLinkQuerySet":
        return self.filter(expires_at__gt=Now())


class SharedLink(models.Model):
    """A link to a highlight, an answer, or a page or clip (ms) of a source, or to words there.

    Who has the ``uuid`` reads it until it expires.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    author = models.ForeignKey(
        User, models.CASCADE, null=True, blank=True, related_name="shared_links"
    )
    highlight = models.ForeignKey(
        Highlight, models.CASCADE, null=True, blank=True, related_name="shared_links"
    )
    answer = models.ForeignKey(
        Answer, models.CASCADE, null=True, blank=True, related_name="shared_links"
    )
    source = models.ForeignKey(
        Source, models.CASCADE, null=True, blank=True, related_name="shared_links"
    )
    page = models.PositiveIntegerField(null=True, blank=True)
    start = models.PositiveBigIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveBigIntegerField("end (ms)", null=True, blank=True)
    quote = models.TextField(blank=True, help_text="If not the whole page or clip is shown.")
    prefix = models.CharField(max_length=100, blank=True)
    suffix = models.CharField(max_length=100, blank=True)
    plays_file = models.BooleanField(
        default=False, help_text="Whether clips of audio and video files are played."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            CheckConstraint(
                condition=Q(highlight=None, answer__isnull=False, source=None)
                | Q(highlight__isnull=False, answer=None, source=None)
                | Q(highlight=None, answer=None, source__isnull=False),
                name="shared_link_of_one",
            ),
            CheckConstraint(
                condition=Q(source=None, page=None, start=None, end=None)
                | Q(source__isnull=False, page__isnull=False, start=None, end=None)
                | Q(source__isnull=False, page=None, start__isnull=False, end__gt=F("start")),
                name="shared_link_of_page_or_clip",
            ),
            CheckConstraint(
                condition=Q(quote="") | Q(source__isnull=False), name="shared_link_quotes_a_source"
            ),
        )

    @property
    def path(self) -> str:
        return site_path(f"/shared/{self.uuid}/")

    def __str__(self) -> str:
        highlighted = self.highlight and self.highlight.quote
        text = self.quote or highlighted or (self.answer and self.answer.question) or self.source
        cut = cut_at_word(str(text), SHOWN)
        return cut if cut == str(text) else f"{cut} …"


class SharedClip(PlayableFile):
    """The part of a file that a link plays, from ``start`` until ``end`` (ms of the file).

    ``media_type`` is empty if it cannot be cut.
    """

    name = models.CharField(max_length=20, blank=True)
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    link = models.ForeignKey(SharedLink, models.CASCADE, related_name="clips")
    media = models.ForeignKey(MediaFile, models.CASCADE, related_name="shared_clips")
    start = models.PositiveBigIntegerField("start (ms)")
    end = models.PositiveBigIntegerField("end (ms)")
    lead = models.PositiveIntegerField(
        "lead (ms)", default=0, help_text="Pictures before the start, which are not to be shown."
    )

    class Meta:
        constraints = (
            UniqueConstraint(fields=("link", "media", "start", "end"), name="shared_clip_once"),
            CheckConstraint(condition=Q(end__gt=F("start")), name="shared_clip_ends_later"),
        )


class SharedClipPart(FilePart):
    """One megabyte of a clip; the last part may be shorter."""

    clip = models.ForeignKey(SharedClip, models.CASCADE, related_name="parts")

    class Meta:
        ordering = ("clip_id", "ordinal")
        constraints = (UniqueConstraint(fields=("clip", "ordinal"), name="shared_clip_part_once"),)

    def __str__(self) -> str:
        return f"{self.clip_id} · {self.ordinal}"
