"""The sound of a video, by yt-dlp: a file that browsers play, to be listened to."""

import os
import time
from pathlib import Path
from typing import Any, Final

from requests.adapters import BaseAdapter

from transcripts.core.errors import MediaTooLarge, NetworkProblem
from transcripts.text.timecodes import watch_url
from transcripts.youtube.extractor import WarningLog, client, extract
from transcripts.youtube.failures import changed, explain
from transcripts.youtube.metadata import info_from_json
from transcripts.youtube.values import FetchedSound, Options, RequestTrace, Unplayable

FORMAT: Final = "ba[ext=m4a]/ba[ext=webm]/ba[ext=mp3]/b[ext=mp4]"
SORTED_BY: Final = ("lang", "abr~64")  # the language spoken; enough for speech, and small
PIECE: Final = 2_000_000  # bytes of a request
LONGEST: Final = 3_600.0  # seconds for everything


def fetch(
    video_id: str, folder: Path, *, options: Options, inner: BaseAdapter | None, most: int
) -> FetchedSound:
    """Save a video's sound in a folder, at most so many bytes, in requests of two megabytes.

    Raises ``YouTubeError`` and ``MediaTooLarge``.
    """
    log, trace, deadline = WarningLog(), RequestTrace(), time.monotonic() + LONGEST

    def watch(progress: dict[str, Any]) -> None:
        if max(progress.get(name) or 0 for name in ("downloaded_bytes", "total_bytes")) > most:
            raise MediaTooLarge(f"The sound of this video has more than {most:,} bytes.")
        if time.monotonic() > deadline:
            raise NetworkProblem("YouTube sent the sound too slowly.")

    how = {
        "skip_download": False,
        "ignore_no_formats_error": False,
        "writesubtitles": False,
        "writeautomaticsub": False,
        "format": FORMAT,
        "format_sort": list(SORTED_BY),
        "http_chunk_size": PIECE,
        "paths": {"home": str(folder)},
        "outtmpl": "sound.%(ext)s",
        "fixup": "never",
        "ffmpeg_location": os.devnull,  # it would send requests of its own, past the guard
        "noprogress": True,
        "progress_hooks": [watch],
    }
    with client(options, inner, trace, log, **how) as asking:
        raw = extract(asking, watch_url(video_id), log, download=True)
    path = next((path for path in folder.glob("sound.*") if path.suffix != ".part"), None)
    if raw is None or raw.get("id") != video_id or path is None:
        unsaid = Unplayable("YouTube gives this server no sound of this video.")
        raise explain(trace, log.texts) or (unsaid if trace.is_playable else changed())
    return FetchedSound(info_from_json(raw), path)
