"""`kb demo`: load the sample library, then read, page and search it."""

from dataclasses import dataclass
from typing import Any

from citations import samples
from citations.models import LectureSession
from kbsite.cli import indexing_progress, output
from kbsite.cli.database import open_library
from kbsite.cli.options import Json
from kbsite.cli.terminal import print_json, say
from transcripts import conf, library
from transcripts import samples as talks
from transcripts.library import VideoReading, VideoSearch
from transcripts.schemas import HitOut, VideoReadingOut

QUERY = "why should a rare word count more than a common one"
HITS = 3


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A short talk, a page of a long one, a search, and a lecture that cites a textbook."""

    reading: VideoReading
    page: VideoReading
    search: VideoSearch
    lecture: LectureSession

    def as_json(self) -> dict[str, Any]:
        return {
            "reading": VideoReadingOut.model_validate(self.reading),
            "page": VideoReadingOut.model_validate(self.page),
            "hits": [HitOut.model_validate(hit) for hit in self.search.hits],
            "lecture": {
                "id": str(self.lecture.uuid),
                "title": self.lecture.title,
                "link": self._link,
            },
        }

    def print(self) -> None:
        """Print each part below the command that shows it."""
        chunk, search = self.page.reading.chunk, self.search
        say(f"$ kb show {self.reading.video.key}", "bold green")
        output.print_reading(self.reading)
        say(
            f"\n$ kb show {self.page.video.key} --chunk {chunk.index if chunk else 0}", "bold green"
        )
        output.print_reading(self.page)
        say(f'\n$ kb search "{search.query}" --in {search.video.key}', "bold green")
        output.print_hits(search)
        say("\nA lecture that cites a textbook: run `kb serve`, then replay it at", "bold green")
        say(self._link)

    @property
    def _link(self) -> str:
        return f"{conf.public_url()}/lectures/{self.lecture.uuid}/"


def demo(as_json: Json = False) -> None:
    """Demonstrate reading, paging and searching with a sample library."""
    open_library()
    demonstration = _demonstrate()
    if as_json:
        print_json(demonstration.as_json())
    else:
        demonstration.print()


def _demonstrate() -> Demonstration:
    loaded = samples.load()
    videos = {stored.video.key: stored.video for stored in loaded.talks}
    indexing_progress.index(
        [video.pk for video in videos.values()], [loaded.textbook.pk], wait=False, quiet=True
    )
    short, long = videos[talks.SHORT], videos[talks.LONG]
    return Demonstration(
        reading=library.read(short, language="en"),
        page=library.read(long, language="en", chunk_index=1),
        search=library.search(short, QUERY, language="en", limit=HITS),
        lecture=loaded.lecture,
    )
