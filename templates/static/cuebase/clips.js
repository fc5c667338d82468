// Clips play where they stand: in the panel of a citation, below a hit, a highlight or a card.

import { around, find, isPlainClick } from "./dom.js";
import { clock } from "./text.js";
import { gettext } from "./texts.js";

/** @type {{link: HTMLElement, place: HTMLElement} | null} the one that was opened last */
let opened = null;

/** @param {HTMLElement} box */
async function play(box) {
  const { controlPlayer } = await import("./player.js"); // few pages have something to play
  controlPlayer(box, () => {}).play(Number(box.dataset.from ?? 0));
}

function close() {
  opened?.place.remove();
  opened?.link.removeAttribute("aria-expanded");
  opened = null;
}

/** @param {HTMLElement} link */
async function open(link) {
  const place = document.createElement("div");
  place.className = "clip";
  link.parentElement?.after(place);
  link.setAttribute("aria-expanded", "true");
  opened = { link, place };
  await htmx.ajax("GET", link.dataset.clip ?? "", { target: place, swap: "innerHTML" });
  if (opened?.place !== place) return; // closed meanwhile: nothing of it would be seen
  const box = find(".player, .player-audio", place);
  if (box instanceof HTMLMediaElement && !(await hasClip(box))) return;
  if (box) play(box);
}

/**
 * Check that a file has not ended where its clip begins, and say so if it has: the browser would
 * play nothing, or its beginning.
 * @param {HTMLMediaElement} media
 */
async function hasClip(media) {
  if (!media.readyState) {
    await new Promise((resolve) => {
      for (const name of ["loadedmetadata", "error"]) {
        media.addEventListener(name, resolve, { once: true });
      }
    });
  }
  const begin = Number(/#t=([\d.]+)/.exec(media.src)?.[1] ?? 0);
  if (!(media.duration <= begin)) return true; // also where its length is not known
  const note = document.createElement("p");
  note.className = "notice notice-warning";
  note.setAttribute("role", "status");
  const times = { end: clock(media.duration * 1000), time: clock(begin * 1000) };
  note.textContent = gettext(
    "The file ends at {end}, before {time}: it is of another recording, or not whole.", times);
  media.after(note);
  return false;
}

document.addEventListener("click", (event) => {
  if (!isPlainClick(event)) return;
  const link = around(event, "[data-clip]");
  const box = around(event, "[data-play]")?.closest(".player:not(#player)");
  if (!link && !box) return;
  event.preventDefault();
  if (box) play(/** @type {HTMLElement} */ (box));
  if (!link) return;
  const isOpen = opened?.link === link;
  close();
  if (!isOpen) open(link);
});
