// A video's page: the player loads when it is asked for; times seek it and mark their line.

import { all, announce, around, copy, find, isPlainClick, need, scrolling } from "./dom.js";
import { clock } from "./text.js";
import { loadPlayer, PAUSED } from "./youtube.js";

/** @typedef {{from: number, until: number, hasBegun: boolean}} Clip milliseconds */

const page = need("[data-video]");
const box = find("#player");
/** @type {ReturnType<typeof loadPlayer> | null} */
let player = null;

/**
 * Return the clip of an address with "until": it plays once, from its start to its end.
 * @returns {Clip | null}
 */
function clipOfAddress() {
  if (!box?.dataset.until) return null;
  const from = Number(box.dataset.from ?? 0);
  return { from, until: Number(box.dataset.until), hasBegun: false };
}

let clip = clipOfAddress();
let pauseTimer = 0;
let position = clip ? clip.from : Number(find(".cue.at")?.dataset.ms ?? 0); // ms

/** @param {number} ms */
function setPosition(ms) {
  position = ms;
  for (const label of all("[data-now]")) label.textContent = clock(ms);
  const text = find("[data-play-label]")?.firstChild;
  if (text && !clip) text.textContent = ms ? `Play from ${clock(ms)}` : "Play";
}

// The transcript

/** @param {number} ms */
function cueAt(ms) {
  const chunk = all(".chunk").find((part) =>
    Number(part.dataset.start) <= ms && ms <= Number(part.dataset.end));
  return chunk && all(".cue", chunk).filter((cue) => Number(cue.dataset.ms) <= ms).at(-1);
}

/** @param {HTMLElement | undefined} cue */
function mark(cue) {
  for (const marked of all(".cue.at")) marked.classList.remove("at");
  cue?.classList.add("at");
}

// The player

function endClip() {
  clip = null;
  clearTimeout(pauseTimer);
}

function stopClip() {
  endClip();
  player?.command("pauseVideo");
}

/**
 * Stop at the end of the clip. The player tells its position a few times a second, so the last
 * two seconds are timed here.
 * @param {number} ms
 * @param {number | undefined} state
 */
function stopInTime(ms, state) {
  clearTimeout(pauseTimer);
  if (!clip || state === PAUSED) return;
  if (!clip.hasBegun) {
    clip.hasBegun = true;
    if (ms < clip.from - 50) player?.command("seekTo", clip.from / 1000, true);
    return;
  }
  const left = clip.until - ms;
  if (left < -2000) endClip(); // moved past the end by hand
  else if (left <= 0) stopClip();
  else if (left < 2000) pauseTimer = setTimeout(stopClip, left);
}

/** @param {HTMLElement} element */
function play(element) {
  player = loadPlayer(element, element.dataset.youtube ?? "", {
    title: element.dataset.title,
    parameters: { start: Math.floor(position / 1000) },
    onInfo({ currentTime, playerState }) {
      if (typeof currentTime !== "number") return;
      setPosition(currentTime * 1000);
      stopInTime(position, playerState);
      const cue = cueAt(position);
      if (cue && !cue.classList.contains("at")) mark(cue);
    },
  });
  player.frame.focus();
}

/**
 * Go to a time: the player, the address and the transcript.
 * @param {number} ms
 * @param {string} address
 */
async function seek(ms, address) {
  endClip();
  setPosition(ms);
  player?.command("seekTo", ms / 1000, true);
  player?.command("playVideo");
  history.replaceState(history.state, "", address);
  if (!cueAt(ms)) {
    const swap = { target: "#transcript", select: "#transcript", swap: "outerHTML show:none" };
    await htmx.ajax("GET", address, swap);
  }
  const cue = cueAt(ms);
  if (cue) {
    mark(cue);
    cue.scrollIntoView({ block: "center", behavior: scrolling() });
  }
  announce(`At ${clock(ms)}`);
}

/** Return the permanent address of the current position. */
function currentAddress() {
  const address = new URL(page.dataset.address ?? "", location.href);
  address.searchParams.set("t", `${Math.floor(position / 1000)}s`);
  if (page.dataset.lang) address.searchParams.set("lang", page.dataset.lang);
  return address.href;
}

document.addEventListener("click", (event) => {
  if (!isPlainClick(event)) return;
  const link = /** @type {HTMLAnchorElement | null} */ (around(event, "[data-seek]"));
  const copier = around(event, "[data-copy-link]");
  if (box && around(event, "[data-play]")) {
    event.preventDefault();
    play(box);
  } else if (link) {
    event.preventDefault();
    seek(Number(link.dataset.seek), link.href);
  } else if (copier) {
    copy(currentAddress(), copier);
  }
});

find(".cue.at")?.scrollIntoView({ block: "center" });
