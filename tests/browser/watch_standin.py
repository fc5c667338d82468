"""A stand-in for the site of the videos: a watch page whose player fetches captions as YouTube's
does, and a site that gives those of a machine to its player alone.
"""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

SPOKEN: Final = (
    "today the error of the last layer",
    "runs backwards through the network",
    "<img src=x onerror=document.title='taken'> is only text",
    "and each weight follows its gradient",
)
GERMAN: Final = ("Heute läuft der Fehler", "rückwärts durch das Netz")
TITLE: Final = "Backpropagation <img src=x onerror=\"document.title='taken'\">"
PAGE: Final = """<!doctype html><title>Watch</title>
<div id="movie_player"></div><video controls></video>
<button>Subtitles</button>
<script>
  const id = new URLSearchParams(location.search).get("v");
  const track = `/api/timedtext?v=${id}&lang=en&kind=asr`;
  document.getElementById("movie_player").getPlayerResponse = () => ({
    videoDetails: { videoId: id, title: TITLE, author: "Lecture Hall" },
    captions: id.startsWith("silent") ? undefined : { playerCaptionsTracklistRenderer: {
      captionTracks: [{ baseUrl: track, languageCode: "en", kind: "asr",
        name: { simpleText: "English (automatic)" } },
      { baseUrl: `/api/timedtext?v=${id}&lang=de`, languageCode: "de",
        name: { runs: [{ text: "German" }] } }] } },
  });
  document.querySelector("button").onclick = () => fetch(`${track}&fmt=json3&pot=proof`);
</script>
"""


class WatchStandIn(ThreadingHTTPServer):
    """Serves while the block runs; ``url`` is where."""

    daemon_threads = True

    def __init__(self, title: str = TITLE, spoken: Sequence[str] = SPOKEN) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.title, self.spoken = title, spoken
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: WatchStandIn

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/watch":
            page = PAGE.replace("TITLE", json.dumps(self.server.title).replace("<", "\\u003c"))
            self._answer(page, "text/html")
        elif parts.path == "/api/timedtext":
            asked_for = parse_qs(parts.query)
            is_given = asked_for.get("pot") == ["proof"] or asked_for["lang"] == ["de"]
            lines = GERMAN if asked_for["lang"] == ["de"] else self.server.spoken
            self._answer(captions(lines) if is_given else "", "application/json")
        else:
            self._answer("", "text/plain")

    def _answer(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def captions(lines: Sequence[str]) -> str:
    """Return what was said, as json3: a line every ten seconds, with the times of its words."""
    events = [
        {
            "tStartMs": 10_000 * number,
            "dDurationMs": 10_000,
            "segs": [
                {"utf8": f"{word} ", "tOffsetMs": 500 * at} for at, word in enumerate(line.split())
            ],
        }
        for number, line in enumerate(lines)
    ]
    return json.dumps({"wireMagic": "pb3", "events": events})
