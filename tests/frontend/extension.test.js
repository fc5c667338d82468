import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clock, findCues, marked, readCues, saidBefore,
} from "../../kbsite/extension/files/captions.js";
import { preferred, readVideo, watchedId } from "../../kbsite/extension/files/video.js";

const PAGE = "https://www.youtube.com/watch?v=abcdefghijk&t=3";
const CAPTIONS = "https://www.youtube.com/api/timedtext?v=abcdefghijk&lang=en";

const json3 = (...lines) => JSON.stringify({
  events: lines.map((utf8, index) => ({ tStartMs: index * 2000, segs: [{ utf8 }] })),
});

const page = (player, fetched = []) => ({
  address: PAGE, player: typeof player === "string" ? player : JSON.stringify(player), fetched,
});

test("captions are read from json3, and unusable rows are left out", () => {
  assert.deepEqual(readCues(json3("Errors  flow\n", "", "back")), [
    { start: 0, text: "Errors flow" }, { start: 4, text: "back" },
  ]);
  for (const content of ["", "<html>", "null", "[]", "{}", '{"events": {}}', '{"events": [null]}',
    '{"events": [{"segs": [{"utf8": "x"}], "tStartMs": "1"}, {"tStartMs": 1, "segs": 3}]}',
    '{"events": [{"segs": [{"utf8": "x"}], "tStartMs": -1}]}', `${"[".repeat(100000)}`]) {
    assert.deepEqual(readCues(content), []);
  }
});

test("every word is found, in any case and accent, also across two captions", () => {
  const cues = readCues(json3("Die Fehler fließen zurück", "durch das Netz", "Fehler"));
  assert.deepEqual(findCues(cues, "ZURUCK").map(({ start }) => start), [0]);
  assert.deepEqual(findCues(cues, "fehler zurück netz").map(({ start }) => start), [0]);
  assert.deepEqual(findCues(cues, "fehler").map(({ start }) => start), [0, 4]);
  assert.deepEqual(findCues(cues, "  "), []);
  assert.equal(findCues(cues, "fehler", 1).length, 1);
});

test("a match is cut out of its text, which stays whole", () => {
  const parts = marked("Zurück, zurück", ["zuruck"]);
  assert.deepEqual(parts, [
    { text: "Zurück", isMatch: true }, { text: ", ", isMatch: false },
    { text: "zurück", isMatch: true },
  ]);
  assert.equal(marked("<b>a</b>", ["b"]).map(({ text }) => text).join(""), "<b>a</b>");
});

test("what is said now is the last minute up to now, in whole words", () => {
  const cues = readCues(json3("first", "second", "third"));
  assert.equal(saidBefore(cues, 2.5), "first second");
  assert.equal(saidBefore(cues, 300), "");
  assert.equal(saidBefore(cues, 9, 10), "third");
});

test("a time has hours only where it needs them", () => {
  assert.equal(clock(65.9), "1:05");
  assert.equal(clock(3600), "1:00:00");
});

test("only the page of a video is one", () => {
  assert.equal(watchedId(PAGE), "abcdefghijk");
  for (const other of ["https://www.youtube.com/", "https://www.youtube.com/watch?v=short", "", "x",
    "https://www.youtube.com/shorts/abcdefghijk", "https://www.youtube.com/watch?v=<script>aaa"]) {
    assert.equal(watchedId(other), "");
    assert.equal(readVideo({ ...page("{}"), address: other }), null);
  }
});

test("captions are those of this video on its own site, by the player's own address", () => {
  const listed = (address, more = {}) => ({ language: "en", address, ...more });
  const tracks = [
    listed("/api/timedtext?v=abcdefghijk&lang=en"),
    listed("/api/timedtext?v=abcdefghijk&lang=en", { kind: "asr", name: "Automatic" }),
    listed("https://evil.example/api/timedtext?v=abcdefghijk"),
    listed("/api/timedtext?v=other"), listed("/elsewhere?v=abcdefghijk"), listed(3), null, "x",
    { ...listed("/api/timedtext?v=abcdefghijk"), language: "<b>" },
  ];
  const player = { id: "abcdefghijk", title: " A\n talk ", channel: 3, tracks };
  const fetched = [
    `${CAPTIONS}&kind=asr&pot=1&fmt=srv3`, `${CAPTIONS}&tlang=de`, "https://evil.example/", "",
  ];
  const video = readVideo(page(player, fetched));
  assert.deepEqual([video.title, video.channel], ["A talk", ""]);
  assert.deepEqual(video.tracks.map(({ automatic, name }) => [automatic, name]), [
    [false, ""], [true, "Automatic"],
  ]);
  assert.equal(video.tracks[1].address, `${CAPTIONS}&kind=asr&pot=1&fmt=json3`);
});

test("what a page says is bounded, and what it says of another video does not count", () => {
  const tracks = Array.from({ length: 1000 }, (_, index) => ({
    language: `en-${index}`, address: CAPTIONS,
  }));
  const video = readVideo(page({ id: "abcdefghijk", title: "x".repeat(10_000), tracks }));
  assert.equal(video.title.length, 300);
  assert.equal(video.tracks.length, 100);
  const before = readVideo(page({ id: "kjihgfedcba", title: "The one before", tracks }));
  assert.deepEqual(before, { id: "abcdefghijk", title: "", channel: "", tracks: [] });
  for (const answer of ["", "null", "3", "[", '{"id": "abcdefghijk", "tracks": "x"}']) {
    assert.deepEqual(readVideo(page(answer)).tracks, []);
  }
});

test("captions by people whom the reader understands come first, then what was heard", () => {
  const track = (language, automatic) => ({ language, automatic, name: "", address: "" });
  const tracks = [track("de", true), track("fr", false), track("de-AT", false)];
  assert.equal(preferred(tracks, ["de", "en"]), tracks[2]);
  assert.equal(preferred(tracks.slice(0, 2), ["de"]), tracks[0]);
  assert.equal(preferred(tracks.slice(1, 2), ["de"]), tracks[1]);
  assert.equal(preferred([], ["de"]), null);
});
