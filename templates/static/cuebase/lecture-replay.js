// A stored talk replayed as a lecture: by the page's own clock, or by the player where it plays.

import {
  around, field, find, isPlainKey, isTyping, need, openDialog,
} from "./dom.js";
import { hasSingleKeys } from "./keys.js";
import { goToLine, lineAt, scrollToEnd } from "./lecture-transcript.js";
import { clock } from "./text.js";
import { loadPlayer, PAUSED, PLAYING } from "./youtube.js";
import { gettext } from "./texts.js";

const TICK = 250; // ms
const PAUSE = 400; // ms between two messages to the server

const form = /** @type {HTMLFormElement | null} */ (find("[data-replay]"));
const length = Number(form?.dataset.length ?? 0); // ms, as the positions
let position = Number(form?.dataset.position ?? 0);
let reached = position;
let isSending = false;
let isOver = false;
let ticking = 0;
let lastTick = 0;
/** @type {ReturnType<typeof loadPlayer> | null} */
let player = null;
let isPlayerPlaying = false;

function drawClock() {
  if (!form) return;
  position = Math.max(0, Math.min(position, length));
  const bar = field("[data-seek-to]", form);
  if (document.activeElement !== bar || ticking) bar.value = String(position);
  bar.setAttribute("aria-valuetext", gettext(
    "{time} of {length}", { time: clock(position), length: clock(length) },
  ));
  need("[data-clock]", form).textContent = `${clock(position)} / ${clock(length)}`;
}

function drawButton() {
  if (!form) return;
  const button = need("[data-toggle-play]", form);
  button.classList.toggle("playing", ticking > 0);
  const text = position ? gettext("Go on") : gettext("Replay");
  need("[data-play-text]", button).textContent = ticking ? gettext("Pause") : text;
}

/** Tell the server how far the talk is, one message at a time. */
async function send() {
  if (!form || isSending || position <= reached || isOver) return;
  isSending = true;
  const values = { position: Math.round(position) };
  try {
    await htmx.ajax("POST", form.action, { source: form, values, swap: "none" });
    reached = values.position;
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
  } finally {
    isSending = false;
  }
  send();
}

function tick() {
  if (!form) return;
  const now = performance.now();
  const speed = Number(field("[data-speed]", form).value);
  if (!isPlayerPlaying) position += (now - lastTick) * speed;
  lastTick = now;
  drawClock();
  send();
  if (reached >= length) pause(); // the lecture ends with its talk
}

function play() {
  if (ticking || isOver) return;
  lastTick = performance.now();
  ticking = setInterval(tick, TICK);
  player?.command("playVideo");
  scrollToEnd();
  drawButton();
}

function pause() {
  if (!ticking) return;
  clearInterval(ticking);
  ticking = 0;
  player?.command("pauseVideo");
  drawButton();
}

/** Stop the replay for good. */
export function endReplay() {
  isOver = true;
  pause();
}

/**
 * Go to a time. Backwards shows its line; forwards, what lies between is spoken at once.
 * @param {number} ms
 */
function seek(ms) {
  position = ms;
  player?.command("seekTo", ms / 1000, true);
  drawClock();
  send();
  const line = lineAt(ms);
  if (line && ms < reached) goToLine(line);
}

if (form) {
  const button = /** @type {HTMLButtonElement} */ (need("[data-toggle-play]", form));
  form.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => (ticking ? pause() : play()));
  field("[data-seek-to]", form).addEventListener("change", (event) => {
    const bar = /** @type {HTMLInputElement} */ (event.target);
    const isLast = Number(bar.value) + Number(bar.step) > Number(bar.max); // between two steps
    seek(Number(isLast ? bar.max : bar.value));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "p" || !isPlainKey(event) || isOver || openDialog()) return;
    if (!isTyping(event) && hasSingleKeys()) button.click();
  });
  drawClock();
  drawButton();
  button.disabled = false;
}

const screen = find("[data-player]");
screen?.addEventListener("click", (event) => {
  if (!around(event, "[data-load-player]")) return;
  event.preventDefault();
  player = loadPlayer(screen, screen.dataset.player ?? "", {
    title: screen.dataset.title,
    parameters: { start: Math.floor(position / 1000) },
    onInfo({ playerState, currentTime }) {
      if (typeof playerState === "number") isPlayerPlaying = playerState === PLAYING;
      if (playerState === PLAYING) play();
      else if (playerState === PAUSED) pause();
      if (typeof currentTime !== "number") return;
      position = currentTime * 1000;
      drawClock();
    },
  });
});
