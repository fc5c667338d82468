// What a page can do, for the palette: its buttons, folds, menus and ways to show it.

import { all, find, need } from "./dom.js";

const ACTIONS = [
  "main :is(button, summary, a.button, a.item-edit, .menu-body a, .views a, .mode, [data-action])",
  "main [role=group] :is(select, input[type=checkbox])",
  ".top-tools button",
].join(", ");
const FIELDS = "select, textarea, input:not([type=hidden], [type=checkbox], [type=radio])";

/**
 * Return what an action is called, and by which other words it is found.
 * @param {HTMLElement} action
 */
function namesOf(action) {
  const label = action instanceof HTMLSelectElement || action instanceof HTMLInputElement
    ? action.labels?.[0] : null;
  const copy = /** @type {HTMLElement} */ ((label ?? action).cloneNode(true));
  find("select", copy)?.remove(); // its choices are no part of its name
  const note = find(".muted", copy);
  note?.remove();
  const name = oneLine(action.getAttribute("aria-label") ?? copy.textContent);
  const verb = action.hasAttribute("download") ? summaryAround(action) : "";
  const about = action.closest("[data-selection]");
  const also = action.dataset.also ?? (about ? find("[data-selected]", about) : note)?.textContent;
  return { action, name: verb ? `${verb}: ${name}` : name, also: oneLine(also ?? "") };
}

/** @param {string | null} text */
const oneLine = (text) => (text ?? "").replaceAll(/\s+/g, " ").replaceAll(" :", ":").trim();

/**
 * Return the name of the fold or menu that an action is in.
 * @param {HTMLElement} action
 */
function summaryAround(action) {
  const fold = action.closest("details");
  return fold ? oneLine(need("summary", fold).textContent) : "";
}

/**
 * Check that nothing around an element hides it but a fold that is closed.
 * @param {Element} element
 * @param {Map<Element, boolean>} known the answers so far
 * @returns {boolean}
 */
function isOffered(element, known) {
  const answer = known.get(element) ?? (getComputedStyle(element).display !== "none"
    && (!element.parentElement || isOffered(element.parentElement, known)));
  known.set(element, answer);
  return answer;
}

/**
 * Check that an action is one of the page, not of an item of a list or of a word of the text, and
 * within reach: in a menu it is, in a fold outside of menus the fold itself is the action.
 * @param {HTMLElement} action
 */
function isWithinReach(action) {
  if (action.closest("[data-item], [role=toolbar], mark")) return false;
  const own = action.matches("summary") ? action.parentElement : action;
  const isPart = action.matches("form :is(select, input), .menu > summary");
  if (isPart && action.dataset.action === undefined) return false;
  const fold = own?.parentElement?.closest("details:not(.menu, [open])");
  return !fold || Boolean(fold.closest(".menu"));
}

/**
 * Return the actions of this page whose names have all the words.
 * @param {string[]} words in lower case
 */
export function actionsWith(words) {
  const known = new Map();
  const actions = all(ACTIONS).filter((action) => isWithinReach(action)
    && (action.closest(".top-tools") || isOffered(action, known))).map(namesOf);
  const named = actions.filter(({ name, also }) =>
    name && words.every((word) => `${name} ${also}`.toLowerCase().includes(word)));
  // What is selected is what somebody is about to do something with.
  const [chosen, others] = [true, false].map((isChosen) =>
    named.filter(({ action }) => Boolean(action.closest("[data-selection]")) === isChosen));
  const ordered = [...chosen, ...others];
  const names = ordered.map(({ name }) => name);
  return ordered.filter(({ name }, index) => names.indexOf(name) === index);
}

/**
 * Do what was chosen. What is folded away is opened; if it has something to fill in, that gets the
 * focus, as nobody has filled it in yet.
 * @param {HTMLElement} action
 */
export function act(action) {
  const folds = all("details:not([open])").filter((fold) => fold.contains(action));
  for (const fold of folds) fold.setAttribute("open", "");
  const isFold = action.localName === "summary";
  const form = isFold ? action.parentElement : action.closest("form");
  const fields = form ? all(FIELDS, form).filter((each) => each.checkVisibility()) : [];
  if (isFold) (fields[0] ?? action).focus();
  else if (action instanceof HTMLSelectElement) action.focus();
  else if (folds.length && fields.length && action.localName === "button") fields[0].focus();
  else action.click();
}
