"""Compare how WebVTT is read with public suites: ``python bench/captions.py FOLDER``.

The folder holds the tests of vtt.js (github.com/mozilla/vtt.js), whose scripts pair files with cues
in JSON, or those of the WPT (``webvtt/parsing/file-parsing``, or their copy in w3c/webvtt.js). The
assertions of the WPT are scripts, in a page, beside a file of the same name or above the captions
in ``*.test``; Node runs them. Times and words are compared, with an end when the next cue begins.
Tests that docs/decisions/0023 names differ on purpose.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from transcripts.captions import parse
from transcripts.captions.caption_errors import CaptionError
from transcripts.captions.speech import Voices, plain

DECISION: Final = Path(__file__).parents[1] / "docs" / "decisions" / "0023-caption-files.md"
PAIR: Final = re.compile(r'jsonEqual\w*\(\s*"([^"]+\.vtt)",\s*"([^"]+\.json)"')
PAGE: Final = re.compile(r"track\.src = '([^']+)'.*\.cues;(\s*\{.*\})\s*this\.done", re.DOTALL)
ASSERTION: Final = re.compile(r"assert_equals\((.+?)\.(length|text|startTime|endTime), ")
RUN: Final = """
const [script, count] = JSON.parse(require("fs").readFileSync(0));
const cues = Array.from({length: count}, (_, index) => ({index}));
const claims = [];
const scope = {cues, claim: (of, cue, value) => claims.push([of, cue?.index ?? null, value])};
for (const name of ["equals", "not_equals", "true", "false"]) scope["assert_" + name] = () => {};
try { require("vm").runInNewContext(script, scope); } catch (error) {
  if (error.name !== "TypeError") throw error;  // of regions, which are not read
}
console.log(JSON.stringify(claims));
"""
Said: TypeAlias = list[tuple[int, int, str]]  # times in ms, and text


def read(data: bytes) -> Said:
    """Return what is read; nothing of a file that is refused."""
    try:
        return [(cue.start, cue.end, cue.text) for cue in parse(data, name="a.vtt").cues]
    except CaptionError:
        return []


def spoken(cues: list[dict[str, Any]]) -> Said:
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
                data = (folder / captions).read_bytes()
                yield captions.removesuffix(".vtt"), spoken(content["cues"]), read(data)
        if (beside := script.with_suffix(".vtt")).exists():
            yield from asserted(script.stem, script.read_text(), read(beside.read_bytes()))
    for page in sorted(folder.rglob("*.html")):
        if match := PAGE.search(page.read_text()):
            said = read((page.parent / match[1]).read_bytes())
            yield from asserted(page.stem, match[2], said)
    for file in sorted(folder.rglob("*.test")):
        head, _, written = file.read_bytes().partition(b"\n===\n")
        lines = [line for line in head.decode().split("\n")[1:] if not line.startswith("<")]
        said = read(written.decode("unicode_escape").encode())
        yield from asserted(file.stem, "\n".join(lines), said)


def asserted(test: str, script: str, said: Said) -> Iterator[tuple[str, object, object]]:
    """Yield what each assertion of a script wants of the cues that were read, and what they are."""
    given = json.dumps([ASSERTION.sub(r'claim("\2", \1, ', script), len(said)])
    done = subprocess.run(
        ["node", "-e", RUN], input=given, capture_output=True, text=True, check=True
    )
    for of, index, value in json.loads(done.stdout):
        name = f"{test}: {of}{'' if index is None else f' of {index}'}"
        if index is None:
            yield name, value, len(said) if of == "length" else None
            continue
        start, end, text = said[index]
        limits = [following / 1000 for following, _, _ in said[index + 1 : index + 2]]
        match of:
            case "text":
                yield name, plain(value), text
            case "startTime":
                yield name, value, start / 1000
            case "endTime":
                yield name, max(start / 1000, min([value, *limits])), end / 1000


if __name__ == "__main__":
    rows = [line.split("|") for line in DECISION.read_text().split("\n") if line.startswith("|")]
    decided = {name for row in rows for name in re.findall(r"`([^`]+)`", row[1])}
    tests = list(compared(Path(sys.argv[1])))
    differing = [test for test in tests if test[1] != test[2]]
    for test, wanted, said in differing:
        if test.partition(":")[0] not in decided:
            print(f"{test}\n  should be {wanted}\n  is        {said}")
    purposes = sum(test.partition(":")[0] in decided for test, _, _ in differing)
    print(
        f"{len(tests) - len(differing)} of {len(tests)} as the suite wants, {purposes} differ on"
        f" purpose, {len(differing) - purposes} otherwise"
    )
