"""The resources themselves, always within the caller's scope."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, viewsets
from rest_framework.filters import OrderingFilter
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.routers import APIRootView, DefaultRouter

from citations.models import Chunk, Source
from kbsite.content import filters, serializers
from kbsite.content.parsers import BoundedJSONParser, Search
from kbsite.content.permissions import EditorsWrite, OwnersWrite
from transcripts import collections
from transcripts.errors import Conflict, Forbidden
from transcripts.models import Collection, Feed, Membership, Role, Transcript, Video


class BrowsablePage(BrowsableAPIRenderer):
    """The page without its style element, which the policy forbids and nothing on the page needs."""

    def get_context(
        self, data: Any, accepted_media_type: str | None, renderer_context: Any
    ) -> dict[str, Any]:
        """Return what the template shows."""
        return {
            **super().get_context(data, accepted_media_type, renderer_context),
            "code_style": None,
        }


class StyledPages:
    """Lets the browsable pages use their style attributes: all that the strict policy would take from them. Scripts stay as they are everywhere."""

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Loosen the policy on a page, not on data."""
        final = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]
        if (
            getattr(final, "accepted_renderer", None) is not None
            and final.accepted_renderer.media_type == "text/html"
        ):
            final._csp_update = {"style-src-attr": ["'unsafe-inline'"]}
        return final


class Resource(StyledPages, viewsets.GenericViewSet[Any]):
    """What all resources share: read within the scope, bounded in what may be asked and sent."""

    renderer_classes = (JSONRenderer, BrowsablePage)
    parser_classes = (BoundedJSONParser, FormParser, MultiPartParser)
    permission_classes: Any = (IsAuthenticated, EditorsWrite)
    filter_backends = (DjangoFilterBackend, Search, OrderingFilter)
    lookup_value_regex = "[0-9]{1,18}"
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]


class Collections(
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    Resource,
):
    """Shelves. Whoever makes one owns it; deleting one deletes all that is on it."""

    permission_classes = (IsAuthenticated, OwnersWrite)
    search_fields = ("name", "slug")
    ordering_fields = ("name", "slug", "created_at")

    def get_queryset(self) -> QuerySet[Collection]:
        """Return what the caller can see, with the number of videos."""
        visible = Collection.objects.visible(self.request.reach)  # type: ignore[attr-defined]
        return visible.annotate(video_count=Count("videos")).order_by("name")

    def get_serializer_class(self) -> Any:
        """Let the slug be chosen once."""
        return (
            serializers.CollectionSerializer
            if self.action == "create"
            else serializers.CollectionChange
        )

    def perform_create(self, serializer: Any) -> None:
        """Make its maker the owner."""
        asked: Any = self.request
        if asked.auth is not None and asked.auth.limited:
            raise Forbidden("This token is limited to some collections, so it cannot make another.")
        with transaction.atomic():
            collection = serializer.save()
            Membership.objects.create(collection=collection, user=asked.user, role=Role.OWNER)
        collection.video_count = 0

    def perform_destroy(self, instance: Collection) -> None:
        """Delete it with all that is on it, also while workers add to it."""
        collections.delete(instance)


class Members(
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    Resource,
):
    """Who may do what with a collection. A collection keeps at least one owner."""

    serializer_class = serializers.MembershipSerializer
    permission_classes = (IsAuthenticated, OwnersWrite)
    filterset_class = filters.MembershipFilter
    search_fields = ("user__username", "collection__name")
    ordering_fields = ("collection__name", "user__username", "role")

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the members of the collections that the caller can see."""
        found = Membership.objects.visible(self.request.reach)  # type: ignore[attr-defined]
        return found.select_related("collection", "user").order_by(
            "collection__name", "user__username"
        )

    def perform_update(self, serializer: Any) -> None:
        """Let owners change roles, but not leave the collection without an owner."""
        with transaction.atomic():
            if serializer.validated_data.get("role", Role.OWNER) != Role.OWNER:
                _keep_an_owner(serializer.instance)
            serializer.save()

    def perform_destroy(self, instance: Membership) -> None:
        """Let owners remove members, but not the last owner."""
        with transaction.atomic():
            _keep_an_owner(instance)
            instance.delete()


class Videos(
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    Resource,
):
    """Recordings, newest first. Videos are added under /api/v1/; here their title and tags change, and they are deleted."""

    filterset_class = filters.VideoFilterSet
    search_fields = ("title", "channel", "key")
    ordering_fields = ("title", "channel", "duration", "published_at", "created_at")

    def get_queryset(self) -> QuerySet[Video]:
        """Return what the caller can see; the long columns only for a single one."""
        found = Video.objects.visible(self.request.reach).select_related("collection")  # type: ignore[attr-defined]
        found = found.prefetch_related(Prefetch("transcripts", queryset=Transcript.objects.light()))
        return found.defer("description", "chapters") if self.action == "list" else found

    def get_serializer_class(self) -> Any:
        """Say all of a single one."""
        return serializers.VideoSerializer if self.action == "list" else serializers.VideoDetail

    def perform_destroy(self, instance: Video) -> None:
        """Delete it with its transcripts, also while a worker stores another one."""
        collections.delete_video(instance)


class Transcripts(mixins.ListModelMixin, mixins.RetrieveModelMixin, Resource):
    """What is said, in one language, by one origin; the cues only of a single one."""

    filterset_class = filters.TranscriptFilter
    search_fields = ("video__title", "video__key")
    ordering_fields = ("language", "origin", "cue_count", "duration", "created_at", "updated_at")

    def get_queryset(self) -> QuerySet[Transcript]:
        """Return what the caller can see."""
        found = Transcript.objects.visible(self.request.reach).select_related("video__collection")  # type: ignore[attr-defined]
        found = found.defer("word_times", "video__description", "video__chapters").order_by("-pk")
        return (
            found.defer("cues", "word_times", "video__description", "video__chapters")
            if self.action == "list"
            else found
        )

    def get_serializer_class(self) -> Any:
        """Give the cues of a single one."""
        return (
            serializers.TranscriptSerializer
            if self.action == "list"
            else serializers.TranscriptDetail
        )


class Feeds(
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    Resource,
):
    """Playlists and channels. They are added under /api/v1/; deleting one keeps its videos."""

    serializer_class = serializers.FeedSerializer
    filterset_class = filters.FeedFilter
    search_fields = ("title", "youtube_id")
    ordering_fields = ("title", "last_synced_at", "next_sync_at", "created_at")

    def get_queryset(self) -> QuerySet[Feed]:
        """Return what the caller can see."""
        visible = Feed.objects.visible(self.request.reach)  # type: ignore[attr-defined]
        return visible.select_related("collection").order_by("title", "pk")

    def perform_update(self, serializer: Any) -> None:
        """Plan the next look anew."""
        serializer.save().plan()


class Sources(mixins.ListModelMixin, mixins.RetrieveModelMixin, Resource):
    """What can be cited: a recording in one language, or a document; newest first, with how far it is indexed. What is in them is searched under /api/v1/."""

    serializer_class = serializers.SourceSerializer
    filterset_class = filters.SourceFilter
    search_fields = ("title", "author", "video__key")
    ordering_fields = (
        "title",
        "author",
        "kind",
        "state",
        "characters",
        "chunk_count",
        "published_at",
        "created_at",
        "updated_at",
    )
    lookup_field = "uuid"
    lookup_value_regex = "[0-9a-f-]{36}"

    def get_queryset(self) -> QuerySet[Source]:
        """Return what the caller can see."""
        found = Source.objects.visible(self.request.reach).select_related("collection", "video")  # type: ignore[attr-defined]
        return found.defer("video__description", "video__chapters", "video__languages")


class Chunks(mixins.ListModelMixin, mixins.RetrieveModelMixin, Resource):
    """The pieces that searches find, in the order of their sources; cut anew when their source's text changes."""

    serializer_class = serializers.ChunkSerializer
    filterset_class = filters.ChunkFilter
    search_fields = ("heading",)
    ordering_fields = ("ordinal", "start", "page")

    def get_queryset(self) -> QuerySet[Chunk]:
        """Return what the caller can see."""
        sources = Source.objects.visible(self.request.reach)  # type: ignore[attr-defined]
        return (
            Chunk.objects.filter(source__in=sources)
            .select_related("source__collection")
            .order_by("source", "ordinal")
        )


class Root(StyledPages, APIRootView):
    """What the library holds. What can be done with it is described at /api/v1/docs."""

    renderer_classes = (JSONRenderer, BrowsablePage)


class Router(DefaultRouter):
    """Names the resources."""

    APIRootView = Root
    include_format_suffixes = False


router = Router()
router.register("collections", Collections, basename="content-collection")
router.register("memberships", Members, basename="content-membership")
router.register("videos", Videos, basename="content-video")
router.register("transcripts", Transcripts, basename="content-transcript")
router.register("feeds", Feeds, basename="content-feed")
router.register("sources", Sources, basename="content-source")
router.register("chunks", Chunks, basename="content-chunk")


def _keep_an_owner(member: Membership) -> None:
    # The collection's row is locked, so that two owners cannot remove each other at once.
    Collection.objects.select_for_update().get(pk=member.collection_id)
    others = Membership.objects.filter(collection=member.collection_id, role=Role.OWNER).exclude(
        pk=member.pk
    )
    if member.role == Role.OWNER and not others.exists():
        raise Conflict(
            "This is the collection's last owner.", hint="Make somebody else an owner first."
        )
