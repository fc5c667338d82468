// Where a reader is in a recording: kept on the server, so that they can go on there.

import { find } from "./dom.js";

const PAUSE = 5000; // ms between two messages to the server
const PLAYING = 10_000; // ms after which a player that tells nothing does not play
const LEAP = 30_000; // ms between two places of which the second was jumped to
const SKIP = 300_000; // ms between two scrolled places: far more than a screen has
const LOOK = 60_000; // ms from where it opened that are looked over by who may go on elsewhere
const form = /** @type {HTMLFormElement | null} */ (find("[data-reading-place]"));
/** @type {() => number | null} */
let place = () => null; // ms
/** @type {number | null} */
let stored = null;
let timer = 0;
let playedAt = -PLAYING;
let playedTo = Number(find("#transcript")?.dataset.at ?? 0); // ms
/** Whether what is kept next was jumped to: the end is read only by reading on to it. */
let hasJumped = playedTo > 0;
/** Whether the page is scrolled by the reader, not by a script. */
let byHand = false;
const openedAt = playedTo;

/** Take what is shown now, and kept next, as a place that was looked up. */
export function jumped() {
  hasJumped = true;
  byHand = false;
}

/**
 * Tell whether a reader who was elsewhere in the recording, and can still go on there, has only
 * looked at its first lines.
 * @param {number | null} ms
 */
const isGlance = (ms) =>
  ms !== null && find(".resume") !== null && Math.abs(ms - openedAt) < LOOK;

function send() {
  clearTimeout(timer);
  timer = 0;
  const ms = place();
  if (!form || ms === null || ms === stored) return;
  stored = ms;
  const body = new FormData(form); // without the button that marks it as read
  body.set("position", String(ms));
  body.set("reads_on", hasJumped ? "0" : "1");
  const wasJump = hasJumped;
  hasJumped = false;
  fetch(form.action, { method: "POST", body, keepalive: true }).catch(() => {
    stored = null;
    hasJumped ||= wasJump;
  });
}

/**
 * Keep where the player is.
 * @param {number} ms
 */
export function keepPlace(ms) {
  playedAt = performance.now();
  if (Math.abs(ms - playedTo) > LEAP) hasJumped = true;
  playedTo = ms;
  place = () => Math.round(ms);
  timer ||= setTimeout(send, PAUSE);
}

/**
 * Keep the line that is scrolled to by hand, while nothing plays.
 * @param {() => number | null} lineInView its time (ms)
 */
export function keepScrolledPlace(lineInView) {
  for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    addEventListener(name, () => { byHand = true; }, { passive: true });
  }
  addEventListener("scroll", () => {
    if (!byHand || performance.now() - playedAt < PLAYING) return;
    const ms = lineInView();
    if (isGlance(ms)) return;
    if (ms !== null && Math.abs(ms - playedTo) > SKIP) hasJumped = true;
    playedTo = ms ?? playedTo;
    place = lineInView;
    timer ||= setTimeout(send, PAUSE);
  }, { passive: true });
}

addEventListener("pagehide", send);
