"""The demonstration: the sample library is loaded, read, paged and searched; its lecture waits to be replayed."""

from dataclasses import dataclass
from typing import Any

from citations import samples
from citations.models import LectureSession
from kbsite.cli import indexing_progress, shapes
from kbsite.cli.terminal import say
from transcripts import conf, library
from transcripts import samples as talks
from transcripts.library import VideoReading, VideoSearch

QUERY = "why should a rare word count more than a common one"
HITS = 3


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A short talk read whole, a page of a long one, the best moments for a question, and a lecture beside a textbook."""

    reading: VideoReading
    page: VideoReading
    found: VideoSearch
    lecture: LectureSession

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "reading": shapes.reading(self.reading),
            "page": shapes.reading(self.page),
            "hits": [shapes.hit(one) for one in self.found.hits],
            "lecture": {
                "id": str(self.lecture.uuid),
                "title": self.lecture.title,
                "link": self._link,
            },
        }

    def print(self) -> None:
        """Show it, each part with the command that gives it."""
        say(f"$ kb show {self.reading.video.key}", "bold green")
        shapes.print_reading(self.reading)
        say(
            f"\n$ kb show {self.page.video.key} --chunk {self.page.reading.chunk.index if self.page.reading.chunk else 0}",
            "bold green",
        )
        shapes.print_reading(self.page)
        say(f'\n$ kb search "{self.found.query}" --in {self.found.video.key}', "bold green")
        shapes.print_hits(self.found)
        say(
            "\nA lecture that cites a textbook while it is held: `kb serve`, then replay it at",
            "bold green",
        )
        say(self._link)

    @property
    def _link(self) -> str:
        return f"{conf.public_url()}/lectures/{self.lecture.uuid}/"


def run() -> Demonstration:
    """Load the samples if they are not there, and use them."""
    loaded = samples.load()
    videos = {stored.video.key: stored.video for stored in loaded.talks}
    indexing_progress.run(
        [video.pk for video in videos.values()], [loaded.textbook.pk], wait=False, quiet=True
    )
    short, long = videos[talks.SHORT], videos[talks.LONG]
    return Demonstration(
        reading=library.read(short, language="en"),
        page=library.read(long, language="en", chunk_index=1),
        found=library.search(short, QUERY, language="en", limit=HITS),
        lecture=loaded.lecture,
    )
