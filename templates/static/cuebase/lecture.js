// A live lecture: its events arrive as they happen.

import { addCitations, isWaiting, orderCards, waitFor } from "./lecture-citations.js";
import { all, announce, find, need, show } from "./dom.js";
import { endPasting } from "./lecture-paste.js";
import { endReplay } from "./lecture-replay.js";
import { stopListening } from "./lecture-speech.js";
import { addLine, scrollToEnd } from "./lecture-transcript.js";
import { gettext } from "./texts.js";

const page = need("[data-lecture]");
let isEnded = "ended" in page.dataset;

// Figures are fetched when they are looked at.

const figures = /** @type {HTMLDetailsElement} */ (need("[data-figures]"));
const renewFigures = () => htmx.trigger("[data-figures-now]", "figures");
figures.addEventListener("toggle", () => { if (figures.open) renewFigures(); });
find("[data-open-figures]")?.addEventListener("click", () => { figures.open = true; });

function end() {
  isEnded = true;
  endReplay();
  stopListening();
  endPasting();
  orderCards();
  for (const part of all("[data-replay], [data-player], [data-end], .hear")) part.remove();
  need("[data-state]").textContent = gettext("Ended");
  show(find("[data-again]"));
  show(find("[data-keep]"));
  renewFigures();
  announce(gettext("The lecture has ended"));
}

/** @type {Record<string, (data: any) => void>} */
const LISTENERS = {
  segment: addLine,
  window: ({ index }) => waitFor(index),
  citations: addCitations,
  ended: end,
};

function listen() {
  let lastNumber = Number(page.dataset.after);
  const address = new URL(page.dataset.events ?? "", location.href);
  address.searchParams.set("after", String(lastNumber));
  const stream = new EventSource(address);
  for (const [kind, take] of Object.entries(LISTENERS)) {
    stream.addEventListener(kind, (event) => {
      const number = Number(event.lastEventId);
      if (number <= lastNumber) return; // after a break the stream may begin a little earlier
      lastNumber = number;
      take(JSON.parse(event.data));
      if (isEnded && !isWaiting()) stream.close();
    });
  }
}

for (const index of (page.dataset.waiting ?? "").split(",").filter(Boolean)) waitFor(Number(index));
if (!isEnded || isWaiting()) listen();
if (!isEnded) scrollToEnd();
