"""`kb delete`: delete a video or a document."""

from citations.ingest import pipeline as ingest_pipeline
from citations.library import sources
from citations.models import Source
from kbsite.cli.collections import counted, deleted_with
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollection, Json, VideoId, Yes
from kbsite.cli.terminal import confirm, print_result
from transcripts import collections, library
from transcripts.sanitize import is_uuid


def delete(
    reference: VideoId, collection: InCollection = "", yes: Yes = False, as_json: Json = False
) -> None:
    """Delete a video or a document and all its data.

    The id is one of `kb sources` or a video's.
    """
    scope = open_library()
    if document := sources.find_document(scope, reference):
        passages = counted(document.chunk_count, "passage")
        confirm(f"Delete “{document.title}” with {passages}?", yes=yes)
        ingest_pipeline.remove(document)
        print_result(f"Deleted “{document.title}”.", {"deleted": reference}, as_json=as_json)
        return
    key = reference
    if is_uuid(reference):  # of a source, which may belong to a video
        videos = Source.objects.visible(scope).filter(uuid=reference, video__isnull=False)
        key = videos.values_list("video__key", flat=True).first() or reference
    video = library.find_video(scope, key, collection=collection)
    contents, key = deleted_with(video), video.key
    confirm(f"Delete “{video}” ({key}) with {contents}?", yes=yes)
    collections.delete_video(video)
    print_result(f"Deleted {key}: {contents}.", {"deleted": key}, as_json=as_json)
