"""Compare how WebVTT is read with public suites: ``python bench/captions.py FOLDER``.

The folder holds the tests of vtt.js (github.com/mozilla/vtt.js), whose scripts pair files with cues
in JSON, or those of the WPT (``webvtt/parsing/file-parsing``), whose files ``*.test`` have their
assertions above the captions. Times and words are compared; docs/decisions/0023 says which
differences stay.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from transcripts.captions import parse
from transcripts.captions.caption_errors import CaptionError
from transcripts.captions.speech import Voices, plain

PAIR: Final = re.compile(r'jsonEqual\w*\(\s*"([^"]+\.vtt)",\s*"([^"]+\.json)"')
CLAIM: Final = re.compile(r"assert_equals\((cues\.length|cues\[\d+\]\.text), (.+?)(?:, '.*)?\);")


def read(data: bytes) -> list[tuple[int, int, str]]:
    """Return what is read: times in ms, and text; nothing of a file that is refused."""
    try:
        return [(cue.start, cue.end, cue.text) for cue in parse(data, name="a.vtt").cues]
    except CaptionError:
        return []


def spoken(cues: list[dict[str, Any]]) -> list[tuple[int, int, str]]:
    """Return what should be read of cues that say something; each ends when the next begins."""
    voices, said = Voices(), []
    for cue in cues:
        turns = voices.turns(cue["text"].split("\n")) or [[cue["text"]]]
        if text := plain(" ".join(plain(line) for turn in turns for line in turn)):
            said.append((round(cue["startTime"] * 1000), round(cue["endTime"] * 1000), text))
    limits = [*(start for start, _, _ in said[1:]), *(end for _, end, _ in said[-1:])]
    return [(a, max(a, min(b, limit)), c) for (a, b, c), limit in zip(said, limits, strict=True)]


def compared(folder: Path) -> Iterator[tuple[str, object, object]]:
    """Yield the name of each test, what should be read, and what is."""
    for script in sorted(folder.rglob("*.js")):
        for captions, wanted in PAIR.findall(script.read_text()):
            content = json.loads((folder / wanted).read_text())
            if isinstance(content, dict):  # others tell how cues are drawn
                yield captions, spoken(content["cues"]), read((folder / captions).read_bytes())
    for file in sorted(folder.rglob("*.test")):
        head, _, written = file.read_bytes().partition(b"\n===\n")
        said = read(written.decode("unicode_escape").encode())
        values = {f"cues[{n}].text": text for n, (_, _, text) in enumerate(said)}
        for name, literal in CLAIM.findall(head.decode()):
            value = json.loads(literal.replace("'", '"'))
            wanted = plain(value) if isinstance(value, str) else value
            yield f"{file.stem}: {name}", wanted, {"cues.length": len(said), **values}.get(name)


if __name__ == "__main__":
    tests = list(compared(Path(sys.argv[1])))
    for test, wanted, said in tests:
        if wanted != said:
            print(f"{test}\n  should be {wanted}\n  is        {said}")
    passed = sum(wanted == said for _, wanted, said in tests)
    print(f"{passed} passed, {len(tests) - passed} differ")
