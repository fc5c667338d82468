// The transcript beside a player: which line is said, where it stands, the strip of the recording.

import { all, find, scrolling } from "./dom.js";
import { clipAt, clock, sentenceAt } from "./text.js";

const PATIENCE = 4000; // ms that the page is left where a reader has scrolled it
let scrolledAt = -PATIENCE;
for (const name of ["wheel", "touchmove"]) {
  addEventListener(name, () => { scrolledAt = performance.now(); }, { passive: true });
}

/** @param {number} ms */
const chunkAt = (ms) => all(".chunk").find((part) =>
  Number(part.dataset.start) <= ms && ms <= Number(part.dataset.end));

/** @param {number} ms */
export function cueAt(ms) {
  const chunk = chunkAt(ms);
  return chunk && all(".cue", chunk).filter((cue) => Number(cue.dataset.ms) <= ms).at(-1);
}

/**
 * Return when the sentence that is said begins; just after its start, the one before.
 * @param {number} ms
 */
export function sentenceStart(ms) {
  return sentenceAt(sentenceStarts(ms), ms) ?? Math.max(0, ms - 5000);
}

/** @param {number} ms */
const sentenceStarts = (ms) => startsIn(chunkAt(ms));

/** @param {HTMLElement | undefined} chunk */
const startsIn = (chunk) => (chunk?.dataset.sentences ?? "").split(" ").filter(Boolean).map(Number);

/**
 * Return when a place in a line is said: its share of the time until the next line.
 * @param {HTMLElement} line
 * @param {number} end of the line, in milliseconds
 * @param {Node} node
 * @param {number} offset
 */
function timeIn(line, end, node, offset) {
  const words = line.lastElementChild ?? line;
  const start = Number(line.dataset.ms);
  if (!words.contains(node)) return null;
  const before = document.createRange();
  before.setStart(words, 0);
  before.setEnd(node, offset);
  const share = before.toString().length / Math.max(1, words.textContent?.length ?? 1);
  return start + Math.floor((end - start) * share);
}

/**
 * Return from when until when the words are said that are selected; null where none are.
 * @returns {[number, number] | null}
 */
export function selectedTimes() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const lines = all("#transcript .cue");
  const chosen = lines.filter((line) => range.intersectsNode(line.lastElementChild ?? line));
  const [first, last] = [chosen[0], chosen.at(-1)];
  if (!last) return null;
  const endOf = (/** @type {HTMLElement} */ line) => Number(
    lines[lines.indexOf(line) + 1]?.dataset.ms
    ?? line.closest("[data-end]")?.getAttribute("data-end"));
  const from = timeIn(first, endOf(first), range.startContainer, range.startOffset);
  const until = timeIn(last, endOf(last), range.endContainer, range.endOffset);
  return [from ?? Number(first.dataset.ms), until ?? endOf(last)];
}

/**
 * Fill in the times of a clip to share, in whole sentences, unless the form is open, or has times
 * that were typed.
 * @param {number} from milliseconds
 * @param {number} [until]
 */
export function showClip(from, until) {
  const fields = ["[data-clip-from]", "[data-clip-until]"].map((name) =>
    /** @type {HTMLInputElement | null} */ (find(name)));
  const [first, last] = fields;
  if (!first || !last || first.closest("details")?.open) return;
  if (fields.some((each) => each && each.value !== each.defaultValue)) return;
  const end = Number(chunkAt(until ?? from)?.dataset.end ?? from + 20_000);
  const times = clipAt(all(".chunk").flatMap(startsIn), from, end, until);
  first.defaultValue = clock(times[0]);
  last.defaultValue = clock(times[1]);
}

/** @param {HTMLElement | undefined} cue */
export function mark(cue) {
  for (const marked of all(".cue.at")) marked.classList.remove("at");
  cue?.classList.add("at");
}

/** @param {Element | null | undefined} element */
export function bringIntoView(element) {
  element?.scrollIntoView({ block: "center", behavior: scrolling() });
}

/** Bring what an address names into view: the marked sentence, or else the line at its moment. */
export function bringPlaceIntoView() {
  const place = find("#transcript mark.quoted") ?? find(".cue.at");
  place?.scrollIntoView({ block: "center", behavior: "instant" });
}

/**
 * Mark the line that is said, and keep it in view where the reader does not read elsewhere.
 * @param {number} ms
 */
export function follow(ms) {
  const cue = cueAt(ms);
  if (!cue || cue.classList.contains("at")) return;
  mark(cue);
  const choice = /** @type {HTMLInputElement | null} */ (find("[data-follow]"));
  if (choice?.checked && performance.now() - scrolledAt > PATIENCE) bringIntoView(cue);
}

/** Return the time (ms) of the line that is read: the first in the middle of the window. */
export function lineInView() {
  const line = all("#transcript .cue").find((cue) =>
    cue.getBoundingClientRect().bottom > innerHeight / 3);
  return line ? Number(line.dataset.ms) : null;
}

/**
 * Move the strip's line.
 * @param {number} ms
 */
export function showOnStrip(ms) {
  const strip = find("#strip");
  const place = Math.round((1000 * ms) / Number(strip?.dataset.duration ?? 1));
  find(".strip-now")?.setAttribute("d", `M${Math.min(1000, place)} 0v20`);
}

/**
 * Return the time of a place on the strip that was clicked.
 * @param {MouseEvent} event
 * @param {HTMLElement} strip
 */
export function timeOnStrip(event, strip) {
  const box = strip.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  return Math.round(share * Number(strip.dataset.duration));
}
