// One citation looked at: in a card while a number is pointed at, in the panel when it is chosen.

import { all, around, find, isPlainClick, need, openDialog } from "./dom.js";
import { hoverCard } from "./hover.js";

const panel = need("[data-details-panel]");
const emptyPanel = panel.innerHTML;
/** @type {HTMLElement | null} */
let openedBy = null;

/** @param {HTMLElement} reference */
function cardOf(reference) {
  const entry = document.getElementById(reference.dataset.card ?? "");
  if (!entry) return [];
  const copied = /** @type {HTMLElement} */ (entry.cloneNode(true));
  find("a", copied)?.setAttribute("tabindex", "-1");
  return [...copied.childNodes];
}

const card = hoverCard(need("[data-card-box]"), "[data-card]", cardOf);

/** @param {string | undefined} address */
function markCurrent(address) {
  for (const link of all("[data-details]")) {
    if (link.dataset.details === address) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** @param {HTMLElement} link */
async function open(link) {
  card.hide();
  openedBy = link;
  const address = link.dataset.details ?? "";
  await htmx.ajax("GET", address, { target: panel, swap: "innerHTML" });
  if (!find("[data-details-of]", panel)) return;
  markCurrent(address);
  panel.dataset.shown = "";
  panel.scrollTop = 0;
  need("[data-details-title]", panel).focus({ preventScroll: true });
}

function close() {
  if (!("shown" in panel.dataset)) return false;
  delete panel.dataset.shown;
  panel.innerHTML = emptyPanel;
  markCurrent("");
  if (openedBy?.isConnected) openedBy.focus();
  return true;
}

document.addEventListener("click", (event) => {
  if (!isPlainClick(event)) return;
  const link = around(event, "[data-details]");
  if (link) event.preventDefault();
  if (link) open(link);
  else if (around(event, "[data-close-details]")) close();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || openDialog()) return;
  if (!find("details.menu[open]") && close()) event.stopImmediatePropagation();
}, true);
