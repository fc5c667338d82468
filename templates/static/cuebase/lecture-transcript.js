// The transcript of a lecture: lines arrive at its end, which stays in sight while it is read.

import { all, cloned, find, need, scrolling, show } from "./dom.js";
import { clock } from "./text.js";
import { gettext } from "./texts.js";

const NEAR_END = 60; // pixels
export const transcript = need("#spoken");
const lines = need("[data-lines]", transcript);
const toEnd = need("[data-to-now]");
let isFollowing = !find("[data-lecture][data-ended]");

export function scrollToEnd() {
  transcript.scrollTop = transcript.scrollHeight;
  isFollowing = true;
  show(toEnd, false);
}

/** Scroll along with a transcript that has grown. Returns false where the reader is elsewhere. */
export function keepUp() {
  if (isFollowing) scrollToEnd();
  return isFollowing;
}

transcript.addEventListener("scroll", () => {
  const { scrollHeight, scrollTop, clientHeight } = transcript;
  isFollowing = scrollHeight - scrollTop - clientHeight < NEAR_END;
  if (isFollowing) show(toEnd, false);
}, { passive: true });
toEnd.addEventListener("click", scrollToEnd);

/** @param {string | number | undefined} number */
export const lineOf = (number) => document.getElementById(`segment-${number}`);

/**
 * Insert an empty line in the order of numbers: pieces of speech may come late.
 * @param {number} number
 */
function insertLine(number) {
  const line = cloned("#line");
  line.id = `segment-${number}`;
  line.dataset.number = String(number);
  const isEarlier = (/** @type {HTMLElement} */ other) => Number(other.dataset.number) < number;
  const previous = all("[data-number]", lines).filter(isEarlier).at(-1);
  if (previous) previous.after(line);
  else lines.prepend(line);
  return line;
}

function showAsBegun() {
  const state = need("[data-state]");
  if (!("notBegun" in state.dataset)) return;
  delete state.dataset.notBegun;
  state.textContent = gettext("In progress");
}

/**
 * Add or correct a line.
 * @param {{number: number, text: string, start: number | null}} segment start in seconds
 */
export function addLine({ number, text, start }) {
  const line = lineOf(number) ?? insertLine(number);
  if (start !== null) {
    line.dataset.start = String(start * 1000);
    need("[data-time]", line).textContent = clock(start * 1000);
  }
  const words = need("[data-text]", line);
  if (!find(".refs", words)) words.textContent = text;
  show(find("[data-silent]"), false);
  showAsBegun();
  if (!keepUp()) show(toEnd);
}

/**
 * Insert into a line, after so many characters of its text without blanks.
 * @param {HTMLElement} line
 * @param {Node} part
 * @param {number} characters
 */
export function insertAfter(line, part, characters) {
  const words = need("[data-text]", line);
  const texts = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  let rest = characters;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = /** @type {Text} */ (node);
    if (text.parentElement?.closest(".refs")) continue;
    for (const { index, 0: character } of text.data.matchAll(/\S/g)) {
      rest -= character.length;
      if (rest > 0) continue;
      text.splitText(index + 1).before(part);
      return;
    }
  }
  words.append(part);
}

/**
 * Scroll a part to the middle of its frame. What arrives meanwhile may push it on, so its place is
 * checked when the scrolling has ended.
 * @param {HTMLElement} part
 * @param {HTMLElement} frame
 */
export function reveal(part, frame) {
  const middle = () => {
    const offset = part.getBoundingClientRect().top - frame.getBoundingClientRect().top;
    return frame.scrollTop + offset - (frame.clientHeight - part.offsetHeight) / 2;
  };
  const isAway = () => {
    const [box, edge] = [part.getBoundingClientRect(), frame.getBoundingClientRect()];
    return box.top < edge.top || box.bottom > edge.bottom;
  };
  frame.addEventListener("scrollend", () => {
    if (isAway()) frame.scrollTo({ top: middle(), behavior: "instant" });
  }, { once: true });
  frame.scrollTo({ top: middle(), behavior: scrolling() });
  const { top, bottom } = frame.getBoundingClientRect();
  if (top > innerHeight / 2 || bottom < innerHeight / 2) {
    frame.scrollIntoView({ block: "nearest", behavior: scrolling() });
  }
}

/**
 * Mark one element of the page by an animated class.
 * @param {HTMLElement} element
 * @param {string} name
 */
export function pulse(element, name) {
  for (const other of all(`.${name}`)) other.classList.remove(name);
  void element.offsetWidth; // the animation begins anew
  element.classList.add(name);
}

/** @param {HTMLElement} line */
export function goToLine(line) {
  isFollowing = false;
  pulse(line, "at");
  reveal(line, transcript);
}

/**
 * Return the line that is spoken at a time.
 * @param {number} ms
 */
export const lineAt = (ms) =>
  all("[data-start]", lines).filter((line) => Number(line.dataset.start) <= ms).at(-1);
