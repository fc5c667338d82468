// What every page's script uses: finding elements, announcing, copying, reading events.

import { tidy } from "./text.js";
import { gettext } from "./texts.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Return the first element that matches.
 * @param {string} selector
 * @param {ParentNode} from
 * @returns {HTMLElement | null}
 */
export const find = (selector, from = document) => from.querySelector(selector);

/**
 * Return the first element that matches; the page has one.
 * @param {string} selector
 * @param {ParentNode} from
 */
export function need(selector, from = document) {
  const element = find(selector, from);
  if (!element) throw new Error(`The page has no ${selector}`);
  return element;
}

/**
 * Return the first field that matches; the page has one.
 * @param {string} selector
 * @param {ParentNode} from
 */
export const field = (selector, from = document) =>
  /** @type {HTMLInputElement} */ (need(selector, from));

/**
 * Return all elements that match.
 * @param {string} selector
 * @param {ParentNode} from
 * @returns {HTMLElement[]}
 */
export const all = (selector, from = document) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (from.querySelectorAll(selector))];

/**
 * Return the element of a template.
 * @param {string} selector
 * @param {ParentNode} from
 */
export function cloned(selector, from = document) {
  const template = /** @type {HTMLTemplateElement} */ (need(selector, from));
  return /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
}

/**
 * Return the first element of an HTML text.
 * @param {string} html
 */
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return /** @type {HTMLElement} */ (template.content.firstElementChild);
}

/**
 * Show or hide an element.
 * @param {Element | null} element
 * @param {boolean} isShown
 */
export function show(element, isShown = true) {
  if (element instanceof HTMLElement) element.hidden = !isShown;
}

/**
 * Return how a page scrolls for this reader.
 * @returns {ScrollBehavior}
 */
export const scrolling = () => (calm.matches ? "instant" : "smooth");

/**
 * Announce a text to a screen reader.
 * @param {string} text
 */
export function announce(text) {
  const announcer = need("#announcer");
  announcer.textContent = "";
  setTimeout(() => { announcer.textContent = text.replaceAll(/\s+/g, " ").trim(); }, 50);
}

/**
 * Return the notice of a server that does not answer as it should.
 * @param {string} text
 */
export function failure(text) {
  const notice = document.createElement("div");
  notice.className = "notice notice-error";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  return notice;
}

/** Return the notice of a server that is out of reach. */
export const silence = () =>
  failure(gettext("The server does not respond. Check that it is running, then try again."));

const SHOWN = 2000; // ms that a button says what it did

/**
 * Copy a text, and let the button that did it say so.
 * @param {string} text
 * @param {HTMLElement} button
 */
export async function copy(text, button) {
  const outcome = await isCopied(text, button) ? gettext("Copied") : gettext("Not copied");
  announce(outcome);
  button.dataset.outcome = outcome;
  setTimeout(() => { delete button.dataset.outcome; }, SHOWN);
}

/**
 * @param {string} text
 * @param {HTMLElement} button
 */
async function isCopied(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea"); // without HTTPS there is no clipboard API
    box.value = text;
    (openDialog() ?? document.body).append(box); // outside an open dialog nothing is selected
    box.select();
    const isDone = document.execCommand("copy");
    box.remove();
    button.focus({ preventScroll: true });
    return isDone;
  }
}

/**
 * Return an element's text as a person would copy it, without what is marked as an aside.
 * @param {HTMLElement} element
 */
export function copiedText(element) {
  const copied = /** @type {HTMLElement} */ (element.cloneNode(true));
  for (const aside of all("[data-not-copied]", copied)) aside.remove();
  const text = copied.textContent ?? "";
  return element.matches("pre") ? text : tidy(text);
}

/**
 * Return the element that an event is about.
 * @param {Event} event
 */
export const target = (event) => /** @type {HTMLElement} */ (event.target);

/**
 * Return the nearest element around an event's target that matches.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export const around = (event, selector) =>
  event.target instanceof Element ? event.target.closest(selector) : null;

/**
 * Check that a click neither opens a new tab nor comes from another button.
 * @param {MouseEvent} event
 */
export const isPlainClick = (event) =>
  !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);

/**
 * Check that a key is not part of a shortcut or of text that is being composed.
 * @param {KeyboardEvent} event
 */
export const isPlainKey = (event) =>
  !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing);

/**
 * Check that an event comes from a field that text is typed into.
 * @param {Event} event
 */
export const isTyping = (event) =>
  Boolean(around(event, "input, textarea, select, [contenteditable]"));

/** Return the open dialog. */
export const openDialog = () => find("dialog[open]");

/**
 * Listen to an event of htmx.
 * @param {string} name
 * @param {(event: CustomEvent) => void} listener
 * @param {EventTarget} on
 */
export function onHtmx(name, listener, on = document) {
  on.addEventListener(`htmx:${name}`, /** @type {EventListener} */ (listener));
}

/**
 * Read a stored choice; storage may be forbidden.
 * @param {string} name
 */
export function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

/**
 * Keep a text for the next page in this tab; storage may be forbidden.
 * @param {string} name
 * @param {string} text
 */
export function keepInTab(name, text) {
  try { sessionStorage.setItem(name, text); } catch { /* forbidden */ }
}

/**
 * Return what an earlier page in this tab has kept, once.
 * @param {string} name
 */
export function takeFromTab(name) {
  try {
    const text = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    return text;
  } catch { return null; }
}

/**
 * Store a choice; where storage is forbidden, it lasts for this page.
 * @param {string} name
 * @param {string} value
 */
export function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* forbidden */ }
}
