"""The resources, within the caller's scope."""

from collections.abc import Mapping, Set
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet
from rest_framework import mixins, viewsets
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.routers import APIRootView, DefaultRouter

from citations.models import Chunk, Source
from kbsite.content import description, filters, requests, serializers
from kbsite.content.pages import BrowsablePage
from transcripts.core import audit
from transcripts.core.access import AccessLevel
from transcripts.core.alphabet import alphabetical
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, Forbidden
from transcripts.library import activity, collections
from transcripts.models import Collection, Feed, Membership, Role, Transcript, Video


class Resource(viewsets.ReadOnlyModelViewSet[Any]):
    """What all resources share: permissions, and bounds on queries and bodies."""

    renderer_classes = (JSONRenderer, BrowsablePage)
    parser_classes = (requests.BoundedJSONParser, FormParser, MultiPartParser)
    permission_classes: Any = (IsAuthenticated, requests.EditorsWrite)
    filter_backends = (requests.FilterBackend, requests.Search)
    pagination_class = requests.Pages
    schema = description.Operations()
    plural = ""  # the name of its lists
    needs: ClassVar[Mapping[str, AccessLevel]] = {  # action -> what it needs of a token
        "list": AccessLevel.READ,
        "retrieve": AccessLevel.READ,
    }
    left_out: Set[str] = frozenset()  # fields
    lookup_value_regex = "[0-9]{1,18}"
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in self.allowed_methods:
            return  # which is what is answered, not what is wrong with the parameters
        requests.refuse_unknown(request, self)
        if self.action in ("list", "retrieve"):
            self.left_out = requests.fields_left_out(request, self.get_serializer_class())

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        serializer = super().get_serializer(*args, **kwargs)
        row: Any = getattr(serializer, "child", serializer)
        for name in self.left_out:
            row.fields.pop(name, None)
        return serializer

    def _visible(self, model: Any) -> QuerySet[Any]:
        visible: QuerySet[Any] = model.objects.visible(requests.access(self.request))
        return visible


class Creating(mixins.CreateModelMixin, Resource):
    """Says where a new resource is."""

    def get_success_headers(self, data: Any) -> dict[str, str]:
        return {"Location": f"{self.request.path}{data['pk']}/"}


class Changeable(mixins.UpdateModelMixin, mixins.DestroyModelMixin, Resource):
    """A resource that can be changed and deleted."""

    needs: ClassVar[Mapping[str, AccessLevel]] = {
        **Resource.needs,
        "partial_update": AccessLevel.WRITE,
        "destroy": AccessLevel.WRITE,
    }


class Collections(Creating, Changeable):
    """Collections. Who creates one owns it; deleting one deletes its content."""

    permission_classes = (IsAuthenticated, requests.OwnersWrite)
    needs: ClassVar[Mapping[str, AccessLevel]] = {
        **Changeable.needs,
        "create": AccessLevel.WRITE,
        "destroy": AccessLevel.MANAGE,  # it is taken from all members, and cannot be undone
    }
    filterset_class = filters.CollectionFilters
    search_fields = ("name", "slug")

    def get_queryset(self) -> QuerySet[Collection]:
        visible: QuerySet[Collection] = self._visible(Collection)
        return visible.annotate(video_count=Count("videos")).order_by(alphabetical("name"), "pk")

    def get_serializer_class(self) -> Any:
        is_new = self.action == "create"  # the slug is chosen once
        return serializers.CollectionSerializer if is_new else serializers.CollectionChange

    def perform_create(self, serializer: Any) -> None:
        """Make the caller the owner."""
        request = self.request
        if getattr(request.auth, "limited", False):
            raise Forbidden("This token is limited to some collections, so it cannot make another.")
        with transaction.atomic():
            collection = serializer.save()
            owner = cast(User, request.user)
            Membership.objects.create(collection=collection, user=owner, role=Role.OWNER)
            audit.record(Action.ADD, "collection", collection.slug, collection=collection)
        collection.video_count = 0

    def perform_update(self, serializer: Any) -> None:
        with transaction.atomic():
            collection = serializer.save()
            audit.record(Action.CHANGE, "collection", collection.slug, collection=collection)

    def perform_destroy(self, instance: Collection) -> None:
        """Delete a collection with its content, even while workers add to it."""
        collections.delete(instance)


class Members(Creating, Changeable):
    """Members and their roles. A collection keeps at least one owner; the others may leave."""

    serializer_class = serializers.MembershipSerializer
    permission_classes = (IsAuthenticated, requests.OwnersWriteMembersLeave)
    needs: ClassVar[Mapping[str, AccessLevel]] = dict.fromkeys(
        (*Changeable.needs, "create"), AccessLevel.MANAGE
    )
    filterset_class = filters.MembershipFilters
    search_fields = ("user__username", "collection__name")

    def get_queryset(self) -> QuerySet[Membership]:
        members = self._visible(Membership).select_related("collection", "user")
        return members.order_by("collection__name", "user__username")

    def perform_create(self, serializer: Any) -> None:
        with transaction.atomic():
            _record_member(Action.ADD, serializer.save())

    def perform_update(self, serializer: Any) -> None:
        with transaction.atomic():
            if serializer.validated_data.get("role", Role.OWNER) != Role.OWNER:
                _keep_an_owner(serializer.instance)
            _record_member(Action.CHANGE, serializer.save())

    def perform_destroy(self, instance: Membership) -> None:
        with transaction.atomic():
            _keep_an_owner(instance)
            _record_member(Action.DELETE, instance)
            instance.delete()


class Videos(Changeable):
    """Videos, newest first. Add them under /api/v1/; here title and tags change."""

    filterset_class = filters.VideoFilters
    search_fields = ("title", "channel", "key")

    def get_queryset(self) -> QuerySet[Video]:
        light = Prefetch("transcripts", queryset=Transcript.objects.light())
        videos = self._visible(Video).select_related("collection").prefetch_related(light)
        return videos.defer("description", "chapters") if self.action == "list" else videos

    def get_serializer_class(self) -> Any:
        return serializers.VideoSerializer if self.action == "list" else serializers.VideoDetail

    def perform_update(self, serializer: Any) -> None:
        """Remember what a person changed: fetching again keeps it."""
        edited = {*serializer.instance.edited, *serializer.validated_data}
        serializer.save(edited=sorted(edited))

    def perform_destroy(self, instance: Video) -> None:
        """Delete a video with its transcripts, even while a worker stores another one."""
        collections.delete_video(instance)


class Transcripts(Resource):
    """Transcripts, each in one language; a single one with its cues."""

    filterset_class = filters.TranscriptFilters
    search_fields = ("video__title", "video__key")

    def get_queryset(self) -> QuerySet[Transcript]:
        heavy = ["word_times", "video__description", "video__chapters"]
        heavy += ["cues"] if self.action == "list" else []
        transcripts = self._visible(Transcript).select_related("video__collection")
        return transcripts.defer(*heavy).order_by("-pk")

    def get_serializer_class(self) -> Any:
        is_list = self.action == "list"
        return serializers.TranscriptSerializer if is_list else serializers.TranscriptDetail


class Feeds(Changeable):
    """Playlists and channels. Add them under /api/v1/; deleting one keeps its videos."""

    serializer_class = serializers.FeedSerializer
    filterset_class = filters.FeedFilters
    search_fields = ("title", "youtube_id")

    def get_queryset(self) -> QuerySet[Feed]:
        return (
            self._visible(Feed).select_related("collection").order_by(alphabetical("title"), "pk")
        )

    def perform_update(self, serializer: Any) -> None:
        """Schedule the next sync again."""
        serializer.save().plan()

    def perform_destroy(self, instance: Feed) -> None:
        activity.remove_feed(instance)


class Sources(Resource):
    """Sources of citations, newest first: documents, and videos in one language.

    Search in them under /api/v1/.
    """

    serializer_class = serializers.SourceSerializer
    filterset_class = filters.SourceFilters
    search_fields = ("title", "author", "video__key")
    lookup_field = "uuid"
    lookup_value_regex = "[0-9a-f-]{36}"

    def get_queryset(self) -> QuerySet[Source]:
        sources = self._visible(Source).select_related("collection", "video")
        return sources.defer("video__description", "video__chapters", "video__languages")


class Chunks(Resource):
    """Chunks, which searches find, in the order of their sources; replaced when a text changes."""

    serializer_class = serializers.ChunkSerializer
    filterset_class = filters.ChunkFilters
    search_fields = ("heading",)

    def get_queryset(self) -> QuerySet[Chunk]:
        chunks = Chunk.objects.filter(source__in=self._visible(Source))
        return chunks.select_related("source__collection").order_by("source", "ordinal")


class Root(APIRootView):
    """The content of the library. /api/v1/docs describes the other operations."""

    renderer_classes = (JSONRenderer, BrowsablePage)


class Router(DefaultRouter):
    APIRootView = Root
    include_format_suffixes = False


router = Router()
RESOURCES: dict[str, type[Resource]] = {
    "collections": Collections,
    "memberships": Members,
    "videos": Videos,
    "transcripts": Transcripts,
    "feeds": Feeds,
    "sources": Sources,
    "chunks": Chunks,
}
for _plural, _resource in RESOURCES.items():
    _resource.plural = _plural
    router.register(_plural, _resource, basename=f"content-{_plural.removesuffix('s')}")


def _record_member(action: Action, member: Membership) -> None:
    audit.record(action, "member", member.user, collection=member.collection, role=member.role)


def _keep_an_owner(member: Membership) -> None:
    # Lock the collection's row, so that two owners cannot remove each other at once.
    Collection.objects.select_for_update().get(pk=member.collection_id)
    owners = Membership.objects.filter(collection=member.collection_id, role=Role.OWNER)
    if member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        hint = "Make somebody else an owner first."
        raise Conflict("This is the collection's last owner.", hint=hint)
