// The library: several items are selected by mouse or keyboard, and something is done with all.

import {
  all, announce, around, field, find, isTyping, need, onHtmx, openDialog,
} from "./dom.js";
import { hasSingleKeys } from "./keys.js";
import { showActions } from "./library-bar.js";
import { here, keepPlace, returnToLink, returnToPlace } from "./library-place.js";
import "./library-renewal.js";
import { ngettext } from "./texts.js";

const MOST = 1_000; // items at once, as the server allows

/** @type {HTMLInputElement | null} the item that was last chosen, from which a range goes on */
let last = null;

const choices = () => /** @type {HTMLInputElement[]} */ (all("[data-choice]"));
const chosen = () => choices().filter((choice) => choice.checked);
const selectedText = () =>
  ngettext("{count} item selected", "{count} items selected", chosen().length);

function show() {
  const bar = find("[data-selection]");
  if (!bar) return;
  bar.classList.toggle("selection-on", chosen().length > 0);
  showWhole();
  need("[data-selected]", bar).textContent = selectedText();
  const total = Number(find("#results .count")?.dataset.total ?? 0);
  const button = need("[data-select-all]", bar);
  const isPart = Boolean(nextPage()) && chosen().length === choices().length;
  button.hidden = !isPart || total > MOST;
  button.textContent = ngettext("Select all {count}", "Select all {count}", total);
  showActions(chosen());
}

/** Offer to move the items anywhere but to the only collection that they are in. */
function showTargets() {
  const select = /** @type {HTMLSelectElement | null} */ (find("#selection-target"));
  if (!select) return;
  const places = new Set(chosen().map((choice) => choice.dataset.collection));
  const targets = [...select.options].filter((option) => option.value);
  for (const option of targets) {
    option.hidden = option.disabled = places.size === 1 && places.has(option.value);
  }
  const possible = targets.filter((option) => !option.disabled);
  select.value = possible.length === 1 ? possible[0].value : "";
  need(".selection-move").hidden = !possible.length;
}

/** Show in the head of the table whether all rows are chosen, or some. */
function showWhole() {
  const whole = /** @type {HTMLInputElement | null} */ (find("[data-choose-all]"));
  if (!whole) return;
  whole.checked = chosen().length > 0 && chosen().length === choices().length;
  whole.indeterminate = chosen().length > 0 && !whole.checked;
}

/** The link to what follows the listed items. */
const nextPage = () => find("#results .more a");

/**
 * Wait until htmx has replaced an element.
 * @param {HTMLElement} element
 */
const replaced = (element) => new Promise((resolve) => {
  const look = () => {
    if (element.isConnected) return; // something else was settled
    document.removeEventListener("htmx:afterSettle", look);
    resolve(undefined);
  };
  document.addEventListener("htmx:afterSettle", look);
});

/** Show all that follows the listed items, as long as it is needed. */
async function showMore(isNeeded = () => true) {
  for (let page = nextPage(); page && isNeeded(); page = nextPage()) {
    htmx.process(page); // else the browser follows it, as between a swap and its settling
    const settled = replaced(page);
    page.click();
    await settled;
  }
}

async function chooseWholeList() {
  await showMore();
  chooseAll(true);
}

/** Choose again what an action has left where it is: it may be beyond the first page. */
async function chooseAgain() {
  show();
  showTargets();
  const before = new Set(find("[data-selection]")?.dataset.chosen?.match(/\S+/g));
  await showMore(() => choices().filter(({ value }) => before.has(value)).length < before.size);
  for (const choice of choices()) choice.checked ||= before.has(choice.value);
  show();
  showTargets();
}

function chosenNow() {
  show();
  showTargets();
  announce(selectedText());
}

/**
 * Choose all from the last choice to this one, as this one is.
 * @param {HTMLInputElement} choice
 */
function chooseRange(choice) {
  const list = choices(); // may have been renewed since
  const ends = [choice, last].map((end) => list.findIndex(({ value }) => value === end?.value));
  if (Math.min(...ends) < 0) return;
  for (const box of list.slice(Math.min(...ends), Math.max(...ends) + 1)) {
    box.checked = choice.checked;
  }
}

/** @param {boolean} isChosen */
function chooseAll(isChosen) {
  for (const choice of choices()) choice.checked = isChosen;
  chosenNow();
}

document.addEventListener("click", (event) => {
  const choice = /** @type {HTMLInputElement | null} */ (around(event, "[data-choice]"));
  if (choice) {
    if (event.shiftKey) chooseRange(choice);
    last = choice;
    chosenNow();
  }
  const whole = /** @type {HTMLInputElement | null} */ (around(event, "[data-choose-all]"));
  if (whole) chooseAll(whole.checked);
  if (around(event, "[data-select-none]")) chooseAll(false);
  if (around(event, "[data-select-all]")) void chooseWholeList();
});

// The list may have been filtered, sorted or shown as a table since the page was loaded. What comes
// of an action is shown at the same place in it.
document.addEventListener("submit", (event) => {
  const form = around(event, "[data-selection], #notices form");
  if (!form) return;
  field("[name=next]", form).value = here();
  const action = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value;
  if (action === "export") return; // it leads elsewhere
  const item = chosen()[0] ?? currentChoice();
  keepPlace(item ? choices().indexOf(item) : 0);
});

/** @param {KeyboardEvent} event */
const isElsewhere = (event) =>
  Boolean(openDialog()) ||
  event.altKey ||
  (isTyping(event) && !around(event, "[data-choice], [data-choose-all]"));

function currentChoice() {
  const item = document.activeElement?.closest("[data-item]");
  return /** @type {HTMLInputElement | null} */ (item ? find("[data-choice]", item) : null);
}

function chooseCurrent() {
  const choice = currentChoice();
  choice?.click();
  return Boolean(choice);
}

/** @type {HTMLInputElement | null} the item to which the range was extended by keyboard */
let end = null;

/**
 * Extend the range from the last choice to the next item, or take it back by one.
 * @param {number} step 1 or -1
 */
function extendRange(step) {
  const list = choices();
  const current = currentChoice();
  if (!current) return false;
  if (current !== end || !last?.isConnected) last = current;
  const [start, from] = [list.indexOf(last), list.indexOf(current)];
  const to = Math.min(Math.max(from + step, 0), list.length - 1);
  current.checked = Math.abs(to - start) >= Math.abs(from - start);
  end = list[to];
  last.checked = end.checked = true;
  find("[data-item-link]", end.closest("[data-item]") ?? undefined)?.focus();
  chosenNow();
  return true;
}

function deleteChosen() {
  if (chosen().length) find("[data-selection] [value=delete]")?.click();
  return chosen().length > 0;
}

/** @type {Record<string, number>} */
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

function chooseShown() {
  if (choices().length) chooseAll(true);
  return choices().length > 0;
}

function chooseNone() {
  const isAny = chosen().length > 0;
  if (isAny) chooseAll(false);
  return isAny;
}

/** @type {Record<string, () => boolean>} */
const KEYS = { x: chooseCurrent, Delete: deleteChosen, Escape: chooseNone };

/** @param {KeyboardEvent} event */
function isHandled(event) {
  if (event.ctrlKey || event.metaKey) return event.key === "a" && chooseShown();
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key.length === 1 && !hasSingleKeys()) return false;
  if (event.shiftKey) return key in STEPS && extendRange(STEPS[key]);
  return !event.repeat && (KEYS[key]?.() ?? false);
}

document.addEventListener("keydown", (event) => {
  const isTaken = event.defaultPrevented || isElsewhere(event); // such as by a menu that it closes
  if (!isTaken && isHandled(event)) event.preventDefault();
});

// Not before htmx follows the link to more.
document.addEventListener("htmx:load", async () => {
  await chooseAgain();
  await returnToPlace(showMore);
  returnToLink();
}, { once: true });

onHtmx("afterSettle", ({ detail }) => {
  show();
  if (detail.target?.id !== "results") return;
  const isChoice = detail.requestConfig?.triggeringEvent?.target?.matches?.("select, [type=radio]");
  const count = find("#results .count")?.textContent;
  if (isChoice && count) announce(count);
  // Another list: what was told is not about it.
  if (detail.requestConfig?.triggeringEvent?.isTrusted) {
    for (const notice of all("#notices .notice-success")) notice.remove();
  }
});
