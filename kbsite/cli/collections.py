"""`kb collections` lists, adds and deletes collections; `kb delete` a recording or a document."""

from typing import Annotated

import typer
from django.db.models import Prefetch, prefetch_related_objects

from citations.ingest import pipeline as ingest_pipeline
from citations.library import collection_contents, sources
from citations.models import Source
from kbsite.callers import everything
from kbsite.cli.options import InCollection, Json, ListGroup, VideoId, Yes, collection_slugs
from kbsite.cli.terminal import confirm, print_json, print_result, table
from kbsite.cli.users import owner
from kbsite.library.database import open_library
from transcripts.core.sanitize import is_uuid
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.library import reading as library
from transcripts.models import Membership
from transcripts.schemas import CollectionOut

app = typer.Typer(cls=ListGroup, add_completion=False)


@app.callback(invoke_without_command=True)
def list_collections(context: typer.Context, as_json: Json = False) -> None:
    """List, add or delete collections."""
    if context.invoked_subcommand:
        return
    shapes = _shapes(open_library())
    if as_json:
        print_json(shapes)
        return
    lines = (
        (
            collection.slug,
            collection.name,
            collection.videos,
            ", ".join(f"{member.user} ({member.role})" for member in collection.members),
        )
        for collection in shapes
    )
    table(("Collection", "Name", "Recordings", "Members"), lines, main="Name")


@app.command()
def add(name: Annotated[str, typer.Argument(help="Its name.")], as_json: Json = False) -> None:
    """Add a collection."""
    open_library()
    slug = collections.create(name, owner=owner()).slug
    collection = next(shape for shape in _shapes(everything()) if shape.slug == slug)
    added = f"Added the collection “{collection.name}” ({slug})."
    print_result(added, collection, as_json=as_json)


@app.command()
def delete(
    name: Annotated[str, typer.Argument(help="Its name or slug.", autocompletion=collection_slugs)],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete a collection with everything in it."""
    collection = library.find_collection(open_library(), name)
    contents = ", ".join(collection_contents.deleted_with(collection)) or "nothing in it"
    slug = collection.slug
    confirm(f"Delete the collection “{collection}” with {contents}?", yes=yes)
    collections.delete(collection)
    deleted = f"Deleted the collection {slug}: {contents}."
    print_result(deleted, {"deleted": slug}, as_json=as_json)


def delete_content(
    reference: VideoId, collection: InCollection = "", yes: Yes = False, as_json: Json = False
) -> None:
    """Delete a recording or a document and all its data.

    Takes an id from `kb sources` or a recording's id.
    """
    scope = open_library()
    if document := sources.find_document(scope, reference):
        passages = _counted(document.chunk_count, "passage")
        confirm(f"Delete “{document.title}” with {passages}?", yes=yes)
        ingest_pipeline.remove(document)
        print_result(f"Deleted “{document.title}”.", {"deleted": reference}, as_json=as_json)
        return
    key = reference
    if is_uuid(reference):  # of a source, which may belong to a video
        videos = Source.objects.visible(scope).filter(uuid=reference, video__isnull=False)
        key = videos.values_list("video__key", flat=True).first() or reference
    video = library.find_video(scope, key, collection=collection)
    contents, key = _counted(video.transcripts.count(), "transcript"), video.key
    confirm(f"Delete “{video}” ({key}) with {contents}?", yes=yes)
    collections.delete_video(video)
    print_result(f"Deleted {key}: {contents}.", {"deleted": key}, as_json=as_json)


def _shapes(scope: Scope) -> list[CollectionOut]:
    listed = library.collections(scope)
    members = Membership.objects.select_related("user").order_by("user__username")
    prefetch_related_objects(listed, Prefetch("memberships", members))
    return [CollectionOut.model_validate(collection) for collection in listed]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
