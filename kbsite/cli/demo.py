"""`kb demo`: load the sample library, then read, page and search it."""

from citations import samples
from kbsite.cli.library import print_reading
from kbsite.cli.options import Json
from kbsite.cli.search import print_hits
from kbsite.cli.terminal import print_json, say
from kbsite.library import TaskProgress, indexing
from kbsite.library.database import open_library
from transcripts import conf
from transcripts import samples as talks
from transcripts.library import reading as library
from transcripts.schemas import HitOut, VideoReadingOut, VideoSearchOut

QUERY = "why should a rare word count more than a common one"
HITS = 3


def demo(as_json: Json = False) -> None:
    """Show reading, paging and searching with a sample library."""
    open_library()
    loaded = samples.load()
    videos = {stored.video.key: stored.video for stored in loaded.talks}
    indexing.index(
        [video.pk for video in videos.values()],
        [loaded.textbook.pk],
        wait=False,
        progress=TaskProgress(),
    )
    short, long, lecture = videos[talks.SHORT], videos[talks.LONG], loaded.lecture
    reading = library.read(short, language="en")
    page = library.read(long, language="en", chunk_index=1)
    search = library.search(short, QUERY, language="en", limit=HITS)
    link = f"{conf.public_url()}/lectures/{lecture.uuid}/"
    if as_json:
        demonstration = {
            "reading": VideoReadingOut.model_validate(reading),
            "page": VideoReadingOut.model_validate(page),
            "hits": [HitOut.model_validate(hit) for hit in search.hits],
            "lecture": {"id": str(lecture.uuid), "title": lecture.title, "link": link},
        }
        print_json(demonstration)
        return
    say(f"$ kb show {short.key}", "bold green")
    print_reading(reading)
    say(f"\n$ kb show {long.key} --chunk 1", "bold green")
    print_reading(page)
    say(f'\n$ kb search "{QUERY}" --in {short.key}', "bold green")
    print_hits(VideoSearchOut.model_validate(search))
    say("\nA lecture that cites a textbook: run `kb serve`, then replay it at", "bold green")
    say(link)
