import assert from "node:assert/strict";
import { test } from "node:test";

import {
  below, beside, clipAt, clock, codeParts, fileNames, filterWords, hasWords, isOtherLength,
  isText, leadingWords, newCitations, ofKinds, proposedTitle, quotedInMarkdown, sentenceAt, stepped,
  takeEvents, tidy, wholeWords,
} from "../../templates/static/cuebase/text.js";
import { embedAddress, playerInfo } from "../../templates/static/cuebase/youtube.js";

test("a file that ends early or far too late is not that of the transcript", () => {
  const hour = 3_600_000;
  assert.equal(isOtherLength(hour, hour), false);
  assert.equal(isOtherLength(hour - 100_000, hour), false); // silence at the end
  assert.equal(isOtherLength(hour / 2, hour), true);
  assert.equal(isOtherLength(3 * hour, hour), true);
  assert.equal(isOtherLength(Infinity, hour), false);
  assert.equal(isOtherLength(5_000, 10_000), false); // seconds of a short clip
});

test("a long text is cut after a whole word", () => {
  assert.equal(leadingWords("two words", 9), "two words");
  assert.equal(leadingWords("two words", 8), "two");
  assert.equal(leadingWords("wordswords", 5), "words");
});

test("a clip begins with the sentence that is said and ends with one, twenty seconds on", () => {
  const starts = [1_000, 4_500, 12_000, 26_000, 31_000];
  assert.deepEqual(clipAt(starts, 5_000, 40_000), [4_500, 26_000]);
  assert.deepEqual(clipAt(starts, 4_000, 40_000), [4_500, 26_000]); // 0:04, as it is shown
  assert.deepEqual(clipAt(starts, 13_500, 40_000), [12_000, 40_000]);
  assert.deepEqual(clipAt([], 3_000, 0), [3_000, 4_000]);
});

test("a clip of selected words has the whole sentences that they stand in", () => {
  const starts = [1_000, 4_500, 12_000, 26_000, 31_000];
  assert.deepEqual(clipAt(starts, 5_000, 40_000, 10_500), [4_500, 12_000]);
  assert.deepEqual(clipAt(starts, 4_000, 40_000, 12_000), [1_000, 12_000]);
  assert.deepEqual(clipAt(starts, 13_000, 40_000, 32_000), [12_000, 40_000]);
});

test("a time has hours only where it needs them", () => {
  assert.equal(clock(0), "0:00");
  assert.equal(clock(65_999), "1:05");
  assert.equal(clock(3_600_000), "1:00:00");
  assert.equal(clock(36_065_000), "10:01:05");
});

test("a choice goes round from the last place to the first", () => {
  assert.equal(stepped(0, 1, 3), 1);
  assert.equal(stepped(2, 1, 3), 0);
  assert.equal(stepped(0, -1, 3), 2);
  assert.equal(stepped(5, 1, 0), 0);
});

test("a sentence is repeated from its start, and at its start the one before is", () => {
  const starts = [0, 4000, 9000];
  assert.equal(sentenceAt(starts, 7000), 4000);
  assert.equal(sentenceAt(starts, 4300), 0);
  assert.equal(sentenceAt(starts, 300), 0);
  assert.equal(sentenceAt([], 300), null);
  assert.equal(sentenceAt([2000], 300), null);
});

test("of a folder, the files are taken whose names say that they can be read", () => {
  const names = ["Talk.VTT", "book.pdf", "photo.jpg", ".hidden.pdf", "~$book.pdf", "pdf"];
  const files = names.map((name) => ({ name }));
  const kept = ofKinds(files, ".vtt,\n .pdf").map(({ name }) => name);
  assert.deepEqual(kept, ["Talk.VTT", "book.pdf"]);
  assert.deepEqual(ofKinds(files, ""), []);
});

test("a filter needs each of its words, in any case and order", () => {
  const words = filterWords("  Graph  neural ");
  assert.deepEqual(words, ["graph", "neural"]);
  assert.ok(hasWords("Neural networks on GRAPHS", words));
  assert.ok(!hasWords("Neural networks", words));
  assert.ok(hasWords("anything", filterWords(" ")));
  assert.ok(!hasWords(null, words));
});

test("copied text has the lines that a page shows", () => {
  assert.equal(tidy("\n  A claim\t[1]  \n\n   Another\n"), "A claim [1]\nAnother");
});

test("more than three files are counted", () => {
  assert.equal(fileNames(["a", "b", "c"]), "a, b, c");
  assert.equal(fileNames(["a", "b", "c", "d"]), "4 files: a, b …");
  assert.equal(fileNames([]), "");
});

test("what stands between backticks is code", () => {
  assert.deepEqual(codeParts("Run `kb serve`."), [
    { text: "Run ", isCode: false },
    { text: "kb serve", isCode: true },
    { text: ".", isCode: false },
  ]);
});

test("new citations are announced by the first of them", () => {
  const [book, talk] = [{ document_name: "Book", page_number: 3 }, { document_name: "Talk" }];
  assert.equal(newCitations([book]), "1 new citation: Book, page 3");
  assert.equal(newCitations([{ ...book, is_slide: true }]), "1 new citation: Book, slide 3");
  assert.equal(newCitations([talk, book]), "2 new citations: Talk and 1 more");
});

test("a stream gives its complete events and keeps the rest", () => {
  const { events, rest } = takeEvents(
    "event: claim\ndata: <p>\ndata: </p>\n\n: ping\n\nevent: ans",
  );
  assert.deepEqual(events, [{ name: "claim", data: "<p>\n</p>" }]);
  assert.equal(rest, "event: ans");
  assert.deepEqual(takeEvents(`${rest}wer\ndata: x\n\n`).events, [{ name: "answer", data: "x" }]);
});

const CARD = { width: 200, height: 100 };
const VIEW = { width: 800, height: 600 };

test("a card stands below its reference, and above it near the bottom", () => {
  assert.deepEqual(below({ left: 116, top: 50, bottom: 70 }, CARD, VIEW), { left: 100, top: 78 });
  assert.deepEqual(below({ left: 0, top: 560, bottom: 580 }, CARD, VIEW), { left: 8, top: 452 });
  assert.equal(below({ left: 790, top: 0, bottom: 20 }, CARD, VIEW).left, 592);
});

test("a card beside the pointer stays inside the window", () => {
  assert.deepEqual(beside({ x: 100, y: 50 }, CARD, VIEW), { left: 112, top: 68 });
  assert.deepEqual(beside({ x: 790, y: 590 }, CARD, VIEW), { left: 592, top: 480 });
});

test("a player's address has what is given", () => {
  const address = new URL(embedAddress("abc", { start: 12, end: undefined }));
  assert.equal(address.origin + address.pathname, "https://www.youtube-nocookie.com/embed/abc");
  assert.equal(address.search, "?autoplay=1&playsinline=1&rel=0&start=12");
});

test("a player's message is read, anything else is not", () => {
  assert.deepEqual(playerInfo('{"info": {"currentTime": 2}}'), { currentTime: 2 });
  for (const other of ["no JSON", "null", '{"event": "x"}', { info: {} }]) {
    assert.equal(playerInfo(other), null);
  }
});

test("words that a selection cuts are whole", () => {
  const text = "Error runs backwards.";
  const at = (offset) => ({ text, offset });
  assert.deepEqual(wholeWords(at(2), at(8)), [0, 10]);
  assert.deepEqual(wholeWords(at(6), at(10)), [6, 10]);
  assert.deepEqual(wholeWords(at(5), at(11)), [5, 11]);
});

test("a quote is copied with its source, whose brackets stay text", () => {
  const source = { title: "A [talk]", place: "0:05", address: "http://c/?t=5s" };
  const copied = quotedInMarkdown({ quote: "It runs.", ...source });
  assert.equal(copied, "> It runs.\n\n— [A \\[talk\\], 0:05](http://c/?t=5s)");
});

test("several lines or a long one are a text, a copied word or addresses are none", () => {
  assert.equal(isText("Moss drinks.\nIt has no roots."), true);
  assert.equal(isText("moss ".repeat(41)), true);
  assert.equal(isText("moss"), false);
  assert.equal(isText("https://youtu.be/aaaaaaaaaaa\nhttps://youtu.be/bbbbbbbbbbb"), false);
});

test("the title of a text is its first words, without times and markup", () => {
  const titles = {
    "Moss drinks the rain.\nIt has no roots.": "Moss drinks the rain",
    "# On  moss\n\nIt drinks.": "On moss",
    "0:00\nMoss drinks\n0:07\nand rests": "Moss drinks",
    "[0:00:05] – Moss drinks\n[0:07] and rests": "Moss drinks",
    "1\n00:00:01,000 --> 00:00:02,000\n<i>Moss</i> drinks": "Moss drinks",
    "WEBVTT\nKind: captions\n\nNOTE x\n\nintro\n00:01.000 --> 00:02.000\n<v Ada>Moss": "Moss",
    "WEBVTT\nTitle: On moss\n\n00:01.000 --> 00:02.000\nMoss": "On moss",
    "WEBVTT": "",
    "3 ways to rest": "3 ways to rest",
    "…\n42": "",
  };
  for (const [text, title] of Object.entries(titles)) assert.equal(proposedTitle(text), title);
  assert.equal(proposedTitle(`${"moss ".repeat(40)}`), "moss ".repeat(12).trim());
});
