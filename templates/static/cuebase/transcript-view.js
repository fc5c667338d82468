// The transcript beside a player: which line is said, where it stands, the strip of the recording.

import { all, find, scrolling } from "./dom.js";
import { sentenceAt } from "./text.js";

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
  const starts = (chunkAt(ms)?.dataset.sentences ?? "").split(" ").filter(Boolean).map(Number);
  return sentenceAt(starts, ms) ?? Math.max(0, ms - 5000);
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
