// Keys that work on every page. Single keys get in the way of speech input: they can be turned off.

import {
  all, announce, around, find, isPlainKey, isTyping, openDialog, store, stored, target,
} from "./dom.js";

const choice = /** @type {HTMLInputElement | null} */ (find("#single-keys"));
const wasOff = stored("single-keys") === "off";
if (choice) {
  choice.checked = !wasOff;
  choice.addEventListener("change", () => store("single-keys", choice.checked ? "on" : "off"));
}

/** Check that keys without Ctrl or Alt work. */
export const hasSingleKeys = () => (choice ? choice.checked : !wasOff);

const searchBox = () => /** @type {HTMLInputElement | null} */ (
  find("main [data-search]") ?? find("[data-search]"));
const currentItem = () => document.activeElement?.closest("[data-item]");

/**
 * Go some items on, or back: from what has the focus, or else is current. A match in a transcript
 * is opened, so that it is the one that the page counts.
 * @param {number} step
 */
function move(step) {
  const links = all("[data-item-link]");
  if (!links.length) return false;
  const focused = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const current = focused < 0 ? links.findIndex((link) => link.ariaCurrent) : focused;
  const link = links[Math.min(Math.max(current + step, 0), links.length - 1)];
  link.focus();
  if (link.closest("#matches")) link.click();
  return true;
}

/** @param {HTMLInputElement} box */
function clear(box) {
  if (!box.value) {
    box.blur();
    return;
  }
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * Press a button.
 * @param {HTMLElement | null | undefined} button
 */
function press(button) {
  button?.click();
  return Boolean(button);
}

function goToSearch() {
  const box = searchBox();
  box?.focus();
  box?.select();
  return Boolean(box);
}

function showShortcuts() {
  /** @type {HTMLDialogElement | null} */ (find("#shortcuts"))?.showModal();
  return true;
}

function clearSearch() {
  const box = searchBox();
  if (!box?.value) return false;
  clear(box);
  return true;
}

/** @param {number} step */
function changeSpeed(step) {
  const speed = /** @type {HTMLSelectElement | null} */ (find("[data-speed]"));
  if (!speed) return false;
  const next = speed.selectedIndex + step;
  speed.selectedIndex = Math.min(Math.max(next, 0), speed.options.length - 1);
  speed.dispatchEvent(new Event("change", { bubbles: true }));
  announce(`${speed.value}×`);
  return true;
}

/** @type {Record<string, () => boolean>} */
const KEYS = {
  "/": goToSearch,
  "?": showShortcuts,
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => Boolean(currentItem()) && move(1),
  ArrowUp: () => Boolean(currentItem()) && move(-1),
  c: () => press(find("[data-copy-link]")),
  "<": () => changeSpeed(-1),
  ">": () => changeSpeed(1),
  Escape: clearSearch,
};

/**
 * Press the button of the current item that names this key.
 * @param {string} key
 */
const pressInItem = (key) =>
  /^[a-z]$/.test(key) && press(currentItem()?.querySelector(`[data-key="${key}"]`));

/**
 * Press what has this key as its shortcut on the page.
 * @param {string} key
 */
const pressShortcut = (key) => press(find(`[data-shortcut="${CSS.escape(key)}"]`));

function closeMenu() {
  const menu = all("details.menu[open]").at(-1);
  if (!menu) return false;
  menu.removeAttribute("open");
  find("summary", menu)?.focus();
  return true;
}

/**
 * Handle a key in a search box.
 * @param {HTMLInputElement} box
 * @param {KeyboardEvent} event
 */
function inSearchBox(box, event) {
  if (event.key === "Escape") {
    clear(box);
    return true;
  }
  return event.key === "ArrowDown" && move(0); // into the list: to what is current, or the first
}

/** @param {KeyboardEvent} event */
function inField(event) {
  if (event.key === "Escape" && target(event).matches("[data-question]")) {
    target(event).blur(); // to the keys of the answers; what was typed stays
    return true;
  }
  const isSubmit = event.key === "Enter" && !event.shiftKey;
  const own = isSubmit && target(event).dataset.enter; // of several buttons, the one beside it
  if (own) return press(find(own));
  if (!isSubmit || !target(event).matches("[data-submit-on-enter]")) return false;
  /** @type {HTMLTextAreaElement} */ (target(event)).form?.requestSubmit();
  return true;
}

/** @param {KeyboardEvent} event */
function sendText(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return false;
  const text = /** @type {HTMLTextAreaElement | null} */ (around(event, "textarea"));
  text?.form?.requestSubmit();
  return Boolean(text);
}

/**
 * Take back what was done last, as long as it is offered.
 * @param {KeyboardEvent} event
 */
function undo(event) {
  const isMeant = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
  const isText = isTyping(event) && !around(event, "[type=checkbox]");
  return isMeant && event.key === "z" && !isText && press(all("#notices form button").at(-1));
}

/** @param {KeyboardEvent} event */
function isHandled(event) {
  const box = /** @type {HTMLInputElement | null} */ (around(event, "[data-search]"));
  if (box && ["Escape", "ArrowDown"].includes(event.key)) return inSearchBox(box, event);
  if (isTyping(event)) return inField(event);
  if (!hasSingleKeys() && event.key.length === 1) return false;
  if (event.shiftKey && event.key.startsWith("Arrow")) return false; // extends a selection
  return KEYS[event.key]?.() || pressShortcut(event.key) || pressInItem(event.key);
}

document.addEventListener("keydown", (event) => {
  if (sendText(event) || undo(event)) event.preventDefault();
  if (!isPlainKey(event)) return;
  if (openDialog()) {
    if (inField(event)) event.preventDefault();
    return;
  }
  if ((event.key === "Escape" && closeMenu()) || isHandled(event)) event.preventDefault();
});
