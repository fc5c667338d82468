// Ctrl-K: the palette, which goes anywhere, searches, asks, and does what the page can do. The
// server finds the places; the page's own buttons and folds are its actions. What Enter does is the
// same however fast it follows the words: it waits for what they find.

import "./ask-at-once.js";
import "./request-log.js";
import { all, announce, around, cloned, field, find, need, onHtmx, openDialog } from "./dom.js";
import { act, actionsWith } from "./page-actions.js";
import { filterWords, stepped } from "./text.js";
import { ngettext } from "./texts.js";

const palette = /** @type {HTMLDialogElement | null} */ (find("#palette"));
const places = () => all("[data-place]", palette ?? undefined);
let chosen = 0;
/** @type {string | null} */
let listed = null; // the words whose places are shown
let isEntered = false; // Enter was pressed before the places of the words were there

/** @param {number} index */
function choose(index) {
  chosen = index;
  for (const [number, place] of places().entries()) {
    place.classList.toggle("place-chosen", number === index);
    if (number === index) place.scrollIntoView({ block: "nearest" });
  }
}

const MOST_ACTIONS = 12; // before anything is typed

/**
 * Add the actions of this page whose names have the words: above the search for these if a name
 * begins with them, else below it.
 */
function addActions() {
  const words = filterWords(field("#palette-q").value);
  const actions = actionsWith(words);
  const beginning = words.join(" ");
  const isNamed = (/** @type {{ name: string }} */ { name }) =>
    name.toLowerCase().startsWith(beginning);
  const named = words.length ? actions.filter(isNamed) : [];
  const others = actions.filter((action) => !named.includes(action));
  const list = need("#palette-list");
  addGroup(named, (group) => list.prepend(group));
  addGroup(words.length ? others : others.slice(0, MOST_ACTIONS), (group) => {
    const questions = find("[data-questions]", list);
    if (questions) questions.after(group);
    else list.append(group);
  });
}

/**
 * Add a group of actions, if there are any.
 * @param {ReturnType<typeof actionsWith>} actions
 * @param {(group: HTMLElement) => void} add
 */
function addGroup(actions, add) {
  if (!actions.length) return;
  find(".palette-nothing", palette ?? undefined)?.remove();
  const group = cloned("#page-actions");
  for (const { action, name, also } of actions) {
    const item = cloned("#page-action");
    const label = need(".place-label", item);
    label.textContent = name;
    label.lang = /** @type {HTMLElement} */ (action.closest("[lang]")).lang;
    need(".place-detail", item).textContent = also;
    need("[data-place]", item).addEventListener("click", () => setTimeout(() => act(action)));
    need("ul", group).append(item);
  }
  add(group);
}

function open() {
  const other = openDialog();
  if (other instanceof HTMLDialogElement && other !== palette) other.close();
  if (!palette || palette.open) return;
  palette.showModal();
  const box = field("#palette-q");
  isEntered = false;
  box.focus();
  box.select();
  htmx.trigger(box, "palette-opened");
}

/** Do what is chosen, or the first of what the words find, once that is there. */
function enter() {
  if (listed === field("#palette-q").value) places()[chosen]?.click();
  else isEntered = true;
}

// Without results, Enter takes what was listed before them.
for (const name of ["responseError", "sendError"]) {
  onHtmx(name, ({ detail }) => {
    if (!isEntered || /** @type {HTMLElement} */ (detail.elt).id !== "palette-q") return;
    isEntered = false;
    places()[chosen]?.click();
  });
}

/** @param {KeyboardEvent} event */
function keyPressed(event) {
  const list = places();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    choose(stepped(chosen, event.key === "ArrowDown" ? 1 : -1, list.length));
    const label = list[chosen]?.textContent;
    if (label) announce(label);
  } else if (event.key === "Enter" && around(event, "#palette-q")) {
    enter();
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
  palette.addEventListener("input", () => { isEntered = false; });
  palette.addEventListener("close", () => { isEntered = false; });
  onHtmx("afterSwap", ({ detail }) => {
    const { value } = field("#palette-q");
    if (detail.target?.id !== "palette-list" || detail.requestConfig.parameters.q !== value) return;
    listed = value;
    addActions();
    choose(0);
    announce(ngettext("{count} place", "{count} places", places().length));
    if (isEntered) places()[0]?.click();
  });
}
