"""The fields of the resources, and which of them may be written."""

from typing import Any

from django.contrib.auth import get_user_model
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from citations.models import Chunk, Source
from kbsite.content.requests import access, require_owner
from transcripts.models import Collection, Feed, Membership, Transcript, Video
from transcripts.text.timecodes import seconds


class Named(serializers.SlugRelatedField[Any]):
    """A reference by name, typed rather than picked from a list, which would disclose all names."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, style={"base_template": "input.html"})

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or "\0" in data:  # PostgreSQL refuses NUL
            self.fail("invalid")
        return super().to_internal_value(data)


class Seconds(serializers.FloatField):
    """A time in seconds, of a column of milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, read_only=True)

    def to_representation(self, value: Any) -> Any:
        return seconds(value)


def _listed(**fields: str) -> dict[str, Any]:
    """Return the schema of a list of objects that have these fields, of these types."""
    properties = {name: {"type": kind} for name, kind in fields.items()}
    item = {"type": "object", "required": list(fields), "properties": properties}
    return {"type": "array", "items": item}


@extend_schema_field(_listed(start="number", end="number", text="string"))
class Cues(serializers.Field[Any, Any, Any, Any]):
    """The cues of a transcript, in seconds."""

    def to_representation(self, value: Any) -> Any:
        return [
            {"start": seconds(start), "end": seconds(end), "text": text}
            for start, end, text in value
        ]


@extend_schema_field(_listed(start="number", title="string"))
class Chapters(serializers.Field[Any, Any, Any, Any]):
    """The chapters of a video, with their starts in seconds."""

    def to_representation(self, value: Any) -> Any:
        return [{"start": seconds(start), "title": title} for start, title in value]


class CollectionSerializer(serializers.ModelSerializer[Collection]):
    """A collection; its slug never changes."""

    videos = serializers.IntegerField(source="video_count", read_only=True)

    class Meta:
        model = Collection
        fields = ("pk", "slug", "name", "description", "videos", "created_at")


class CollectionChange(CollectionSerializer):
    """An existing collection."""

    class Meta(CollectionSerializer.Meta):
        read_only_fields = ("slug",)


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    """One user's role in one collection."""

    collection = Named(slug_field="slug", queryset=Collection.objects.all())
    user = Named(slug_field="username", queryset=get_user_model().objects.all())

    class Meta:
        model = Membership
        fields = ("pk", "collection", "user", "role")

    def validate_collection(self, collection: Collection) -> Collection:
        """Let only owners add members: nobody else learns which users exist."""
        require_owner(self.context["request"], collection.pk)
        return collection

    def get_fields(self) -> dict[str, Any]:
        """Offer visible collections; of an existing member, only the role can change."""
        fields: dict[str, Any] = super().get_fields()
        fields["collection"].queryset = Collection.objects.visible(
            access(self.context.get("request"))
        )
        for name in ("collection", "user") if self.instance is not None else ():
            fields[name].read_only, fields[name].queryset = True, None
        return fields


class TranscriptSerializer(serializers.ModelSerializer[Transcript]):
    """A transcript without its text."""

    video = serializers.CharField(source="video.key", read_only=True)
    collection = serializers.CharField(source="video.collection.slug", read_only=True)
    duration = Seconds()
    has_added_stops = serializers.BooleanField(read_only=True)

    class Meta:
        model = Transcript
        fields: tuple[str, ...] = (
            "pk",
            "video",
            "collection",
            "language",
            "origin",
            "has_added_stops",
            "digest",
            "cue_count",
            "characters",
            "duration",
            "created_at",
            "updated_at",
        )


class TranscriptDetail(TranscriptSerializer):
    """A transcript with its cues."""

    cues = Cues(read_only=True)

    class Meta(TranscriptSerializer.Meta):
        fields = (*TranscriptSerializer.Meta.fields, "cues")


class TranscriptOfVideo(serializers.ModelSerializer[Transcript]):
    """A transcript, beside its video."""

    duration = Seconds()

    class Meta:
        model = Transcript
        fields = ("pk", "language", "origin", "cue_count", "duration")


class VideoSerializer(serializers.ModelSerializer[Video]):
    """A video; its title and tags can change."""

    id = serializers.CharField(source="key", read_only=True)
    collection = serializers.CharField(source="collection.slug", read_only=True)
    url = serializers.CharField(read_only=True)
    duration = Seconds()
    tags = serializers.ListField(
        child=serializers.CharField(max_length=60), max_length=50, required=False
    )
    languages = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Languages that YouTube has captions in.",
    )
    transcripts = TranscriptOfVideo(many=True, read_only=True)

    class Meta:
        model = Video
        fields: tuple[str, ...] = (
            "pk",
            "id",
            "collection",
            "title",
            "channel",
            "url",
            "youtube_id",
            "duration",
            "published_at",
            "tags",
            "languages",
            "partial",
            "transcripts",
            "created_at",
            "updated_at",
        )
        read_only_fields = tuple(name for name in fields if name not in ("title", "tags"))


class VideoDetail(VideoSerializer):
    """A video with its description and chapters."""

    chapters = Chapters(read_only=True)

    class Meta(VideoSerializer.Meta):
        fields = (*VideoSerializer.Meta.fields, "description", "chapters")
        read_only_fields = (*VideoSerializer.Meta.read_only_fields, "description", "chapters")


class FeedSerializer(serializers.ModelSerializer[Feed]):
    """A playlist or channel; ``newest`` and ``every_hours`` can change."""

    collection = serializers.CharField(source="collection.slug", read_only=True)
    newest = serializers.IntegerField(
        min_value=1, max_value=100_000, allow_null=True, required=False
    )
    every_hours = serializers.IntegerField(
        min_value=1, max_value=8_760, allow_null=True, required=False
    )

    class Meta:
        model = Feed
        fields = (
            "pk",
            "collection",
            "kind",
            "youtube_id",
            "title",
            "newest",
            "every_hours",
            "last_synced_at",
            "new_count",
            "next_sync_at",
            "created_at",
        )
        read_only_fields = tuple(name for name in fields if name not in ("newest", "every_hours"))


class SourceSerializer(serializers.ModelSerializer[Source]):
    """A source and the state of its index; ``id`` is its id in searches."""

    id = serializers.UUIDField(source="uuid", read_only=True)
    collection = serializers.CharField(source="collection.slug", read_only=True)
    video = serializers.CharField(source="video.key", read_only=True, default=None, allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Source
        fields: tuple[str, ...] = (
            "id",
            "collection",
            "kind",
            "video",
            "title",
            "author",
            "url",
            "language",
            "tags",
            "published_at",
            "characters",
            "chunk_count",
            "state",
            "step",
            "done",
            "total",
            "percent",
            "error_code",
            "error",
            "hint",
            "created_at",
            "updated_at",
        )


class ChunkSerializer(serializers.ModelSerializer[Chunk]):
    """A chunk of a source: times in seconds, its span in characters of the source's text."""

    source = serializers.UUIDField(source="source.uuid", read_only=True)  # type: ignore[assignment]
    collection = serializers.CharField(source="source.collection.slug", read_only=True)
    start = Seconds(allow_null=True)
    end = Seconds(allow_null=True)

    class Meta:
        model = Chunk
        fields = (
            "pk",
            "source",
            "collection",
            "ordinal",
            "text",
            "context",
            "heading",
            "start",
            "end",
            "page",
            "last_page",
            "span_start",
            "span_end",
        )
