// Ctrl-K: the palette, which goes anywhere, searches and asks. The server finds the places.

import { all, announce, around, field, find, onHtmx, openDialog } from "./dom.js";
import { stepped } from "./text.js";
import { ngettext } from "./texts.js";

const palette = /** @type {HTMLDialogElement | null} */ (find("#palette"));
const places = () => all("[data-place]", palette ?? undefined);
let chosen = 0;

/** @param {number} index */
function choose(index) {
  chosen = index;
  for (const [number, place] of places().entries()) {
    place.classList.toggle("place-chosen", number === index);
    if (number === index) place.scrollIntoView({ block: "nearest" });
  }
}

function open() {
  const other = openDialog();
  if (other instanceof HTMLDialogElement && other !== palette) other.close();
  if (!palette || palette.open) return;
  palette.showModal();
  const box = field("#palette-q");
  box.focus();
  box.select();
  htmx.trigger(box, "palette-opened");
}

/** @param {KeyboardEvent} event */
function keyPressed(event) {
  const list = places();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    choose(stepped(chosen, event.key === "ArrowDown" ? 1 : -1, list.length));
    const label = list[chosen]?.textContent;
    if (label) announce(label);
  } else if (event.key === "Enter" && around(event, "#palette-q")) {
    list[chosen]?.click();
  } else {
    return;
  }
  event.preventDefault();
}

if (palette) {
  document.addEventListener("keydown", (event) => {
    const isOpener = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isOpener || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("click", (event) => {
    if (!around(event, "[data-palette]")) return;
    event.preventDefault();
    open();
  });
  palette.addEventListener("keydown", keyPressed);
  palette.addEventListener("click", (event) => {
    if (around(event, "[data-place]")) palette.close(); // a place on this page, such as #add
  });
  onHtmx("afterSwap", ({ detail }) => {
    if (detail.target?.id !== "palette-list") return;
    choose(0);
    announce(ngettext("{count} place", "{count} places", places().length));
  });
}
