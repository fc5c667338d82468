// Ctrl-K: the palette, which goes anywhere, searches, asks, and does what the page can do. The
// server finds the places; the page's own buttons and folds are its actions.

import "./ask-at-once.js";
import { all, announce, around, cloned, field, find, need, onHtmx, openDialog } from "./dom.js";
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

const ACTIONS = ["main :is(button, summary, a.button, .menu-body > a)", ".top-tools button"];
const MOST_ACTIONS = 12; // before anything is typed

/**
 * Return what an action is called.
 * @param {Element} action
 */
const nameOf = (action) =>
  (action.getAttribute("aria-label") ?? action.textContent ?? "").replaceAll(/\s+/g, " ").trim();

/**
 * Check that an action is one of the page, not of an item of a list, and within reach: in a menu it
 * is, in a fold the fold itself is the action.
 * @param {HTMLElement} action
 */
function isWithinReach(action) {
  if (action.closest("[data-item], .no-js, [role=toolbar]") || !nameOf(action)) return false;
  const own = action.matches("summary") ? action.parentElement : action;
  if (own?.parentElement?.closest("details:not(.menu):not([open])")) return false;
  return action.matches("summary.button, summary.icon-button") ? !own?.matches(".menu")
    : action.checkVisibility() || Boolean(action.closest("details.menu, .top-tools"));
}

/**
 * Do what was chosen: a fold is opened with all around it, and gets the focus.
 * @param {HTMLElement} action
 */
function act(action) {
  const folds = all("details").filter((fold) => fold.contains(action));
  for (const fold of folds) fold.setAttribute("open", "");
  if (action.localName === "summary") action.focus();
  else action.click();
}

/** Add the actions of this page whose names have the words. */
function addActions() {
  const words = field("#palette-q").value.toLowerCase().split(/\s+/).filter(Boolean);
  const actions = ACTIONS.flatMap((selector) => all(selector)).filter(isWithinReach);
  const named = [...new Map(actions.map((action) => [nameOf(action), action]))].filter(([name]) =>
    words.every((word) => name.toLowerCase().includes(word)));
  if (!named.length) return;
  find(".palette-nothing", palette ?? undefined)?.remove();
  const group = cloned("#page-actions");
  for (const [name, action] of named.slice(0, words.length ? named.length : MOST_ACTIONS)) {
    const item = cloned("#page-action");
    need(".place-label", item).textContent = name;
    need("[data-place]", item).addEventListener("click", () => setTimeout(() => act(action)));
    need("ul", group).append(item);
  }
  need("#palette-list").append(group);
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
    addActions();
    choose(0);
    announce(ngettext("{count} place", "{count} places", places().length));
  });
}
