"""Podcasts: the episodes of a feed become recordings, with their captions or to be listened to."""

import tempfile
from typing import Final

from citations.documents import web_pages
from citations.documents.web_pages import FetchedPage
from citations.errors import DocumentTooLarge, EpisodesLeftOut
from citations.readers import podcast_feed
from citations.readers.podcast_feed import Episode
from transcripts import conf
from transcripts.adding import listening, storage, video_sound
from transcripts.core.errors import KnowledgeBaseError, MediaTooLarge
from transcripts.models import Job, Listening, Video
from transcripts.models.jobs import read_row

MOST: Final = 100  # episodes that are added of a feed at once, the newest


def add(job: Job, page: FetchedPage) -> list[Job] | None:
    """Add the new episodes of a feed that a job has fetched; return the jobs that fetch the sound
    of some, None if the page is no feed.

    What an episode lacks is told with the job. Those without captions are listened to if somebody
    asked for that or their collection always listens; else their pages offer it.
    """
    every = podcast_feed.read(page.data, page.url)
    episodes = every[:MOST]
    if len(every) > MOST:
        left_out = EpisodesLeftOut(
            f"The feed has {len(every):,} episodes, of which the newest {MOST} are added."
        )
        job.add_problems({page.url: left_out})
    keys = Video.objects.filter(collection=job.collection).values_list("key", flat=True)
    known = set(keys.filter(key__in=[episode.info.id for episode in episodes]))
    fetching: list[Job] = []
    for episode in (episode for episode in episodes if episode.info.id not in known):
        job.report(step="fetching the episodes", done=len(job.read), total=len(episodes))
        video = _stored(job, episode)
        is_silent = not video.transcripts.exists()
        if is_silent and (job.listens or job.collection.listens is Listening.ALWAYS):
            fetching.append(listening.request_again(video, by=job.created_by))
        row = read_row(str(video), video=video, change="added")
        job.change(read=[*job.read, row])
    return fetching if episodes else None


def fetch_sound(job: Job) -> None:
    """Fetch the sound of an episode for a job that is held, which then waits to listen to it.

    Raises as ``web_pages.download``, ``MediaTooLarge`` and ``InvalidInput``.
    """
    video = listening.recording_of(job)
    job.report(step="fetching the sound", done=0, total=2)
    with tempfile.TemporaryFile(prefix="cuebase-sound-") as file:
        try:
            name = web_pages.download(job.target, file, most=conf.max_media_bytes())
        except DocumentTooLarge as error:
            raise MediaTooLarge(error.message) from None
        video_sound.begin(job, video, file, name=name)


def _stored(job: Job, episode: Episode) -> Video:
    """Store an episode, with captions if the feed names them."""
    info, about = episode.info, {"tags": job.tags, "by": job.created_by}
    video = storage.store_about(job.collection, info, sound=episode.sound, **about)
    is_unmarked = episode.chapters and not info.chapters
    if is_unmarked and (page := _fetched(job, info.title, episode.chapters)):
        rows = podcast_feed.chapters_of(page.data)
        video.chapters = [[chapter.start, chapter.title] for chapter in rows]
        video.save(update_fields=["chapters", "updated_at"])
    if episode.captions and (page := _fetched(job, info.title, episode.captions)):
        try:
            storage.add_captions(
                job.collection, page.data, name=page.name, key=info.id, title=info.title, **about
            )
        except KnowledgeBaseError as error:
            job.add_problems({info.title: error})
    return video


def _fetched(job: Job, title: str, address: str) -> FetchedPage | None:
    """Return what an address gives; a refusal is told with the job."""
    try:
        return web_pages.fetch(address)
    except KnowledgeBaseError as error:
        job.add_problems({title: error})
        return None
