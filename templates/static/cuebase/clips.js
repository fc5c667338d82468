// Clips play where they stand: in the panel of a citation, below a hit, a highlight or a card.

import { around, find, isPlainClick } from "./dom.js";

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
  const box = find(".player, .player-audio", place);
  if (box) play(box);
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
