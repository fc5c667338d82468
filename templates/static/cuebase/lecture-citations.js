// The citations of a lecture: cards beside the transcript, grouped by window, newest first until it
// ends. A group whose passages later windows cite lasts longer; what they cite besides is folded.

import { all, around, field, find, isPlainClick, need, onHtmx, show } from "./dom.js";
import { hoverCard } from "./hover.js";
import { goToLine, insertAfter, keepUp, lineOf, pulse, reveal } from "./lecture-transcript.js";
import { codeParts, filterWords, hasWords, newCitations } from "./text.js";

const SLOW = 2000; // ms until a search is shown
const FEW = 3; // windows without a citation until that is said
const QUIET = 1500; // ms between announcements

const page = need("[data-lecture]");
const panel = need("#citations");
const groups = need("[data-groups]", panel);
const filter = field("[data-filter]");
const badge = need("[data-count]");
let count = Number(badge.textContent);
let searched = Number(page.dataset.looked);
let isInOrder = "ended" in page.dataset; // else the newest card comes first

// Windows that are being searched

/** @type {Map<number, number | null>} a window's timer; none: it is slow */
const waiting = new Map();

export const isWaiting = () => waiting.size > 0;

function showSearching() {
  show(find("[data-finding]"), [...waiting.values()].includes(null));
}

/** @param {number} index */
export function waitFor(index) {
  if (waiting.has(index)) return;
  waiting.set(index, setTimeout(() => {
    waiting.set(index, null);
    showSearching();
  }, SLOW));
}

/** @param {number} index */
function stopWaiting(index) {
  clearTimeout(waiting.get(index) ?? undefined);
  waiting.delete(index);
  showSearching();
}

// Cards

function filterCards() {
  const words = filterWords(filter.value);
  let hasCards = false;
  for (const group of all("[data-cited]", groups)) {
    const isShown = hasWords(group.textContent, words);
    show(group, isShown);
    hasCards ||= isShown;
  }
  show(find("[data-nothing-fits]"), words.length > 0 && count > 0 && !hasCards);
}

filter.addEventListener("input", filterCards);
onHtmx("afterSettle", () => { if (filter.value) filterCards(); });

/** @param {HTMLElement} group */
function insertGroup(group) {
  const index = Number(group.dataset.cited);
  const isNext = (/** @type {number} */ other) => (isInOrder ? other > index : other < index);
  const after = all("[data-cited]", groups).find((other) => isNext(Number(other.dataset.cited)));
  const next = after ?? find("#older", groups);
  if (next) next.before(group);
  else groups.append(group);
}

/** Show the cards in the order of the transcript, once nothing is added to its end. */
export function orderCards() {
  if (isInOrder || find("#older", groups)) return;
  isInOrder = true;
  groups.append(...all("[data-cited]", groups).reverse());
}

/**
 * Put the numbers of a window's citations into the transcript.
 * @param {HTMLTemplateElement} template
 */
function insertNumbers(template) {
  const line = lineOf(template.dataset.refsOf);
  const numbers = need(".refs", template.content);
  if (!line || document.getElementById(numbers.id)) return;
  insertAfter(line, numbers, Number(template.dataset.after));
}

/**
 * Let a group that is shown last as long, and cite as much, as it does now.
 * @param {HTMLElement} group
 * @param {HTMLElement} fetched
 */
function extendGroup(group, fetched) {
  group.dataset.windows = fetched.dataset.windows;
  need("[data-range]", group).textContent = need("[data-range]", fetched).textContent;
  const [others, more] = [need("[data-others]", group), need("[data-others]", fetched)];
  if (find("details", others)?.matches("[open]")) find("details", more)?.setAttribute("open", "");
  others.replaceChildren(...more.children);
  htmx.process(others);
}

/**
 * Fetch the groups that a window brings or extends, and its numbers.
 * Returns how many cards are new.
 * @param {number | string} index
 */
async function fetchWindow(index) {
  const isShown = () => find(`[data-windows~="${index}"]`, groups);
  if (isShown()) return 0;
  const address = (page.dataset.window ?? "").replace(/0\/$/, `${index}/`);
  const response = await fetch(address, { headers: { "HX-Request": "true" } });
  if (!response.ok) return 0;
  const fetched = new DOMParser().parseFromString(await response.text(), "text/html");
  if (isShown()) return 0;
  let cards = 0;
  for (const group of all("[data-cited]", fetched)) {
    const shown = document.getElementById(group.id);
    if (shown) extendGroup(shown, group);
    else {
      cards += all("[data-cite]", group).length;
      insertGroup(group);
      htmx.process(group);
    }
  }
  for (const template of all("template", fetched)) {
    insertNumbers(/** @type {HTMLTemplateElement} */ (template));
  }
  keepUp();
  filterCards();
  return cards;
}

/** @typedef {Parameters<typeof newCitations>[0][number]} LiveCitation */

/** @type {LiveCitation[]} */
let news = [];
let newsTimer = 0;

/**
 * Announce citations now and then, not at every window.
 * @param {LiveCitation[]} citations
 */
function announceSoon(citations) {
  news.push(...citations);
  if (newsTimer) return;
  newsTimer = setTimeout(() => {
    need("[data-heard]").textContent = newCitations(news);
    [news, newsTimer] = [[], 0];
  }, QUIET);
}

/** @param {string} text */
function showNote(text) {
  const note = need("[data-note]");
  note.replaceChildren(...codeParts(text).map((part) => (part.isCode
    ? Object.assign(document.createElement("code"), { textContent: part.text })
    : part.text)));
  show(note, Boolean(text));
}

/**
 * Show what became of a window.
 * @param {{window_index: number, outcome: string, citations: LiveCitation[], note: string}} event
 */
export async function addCitations({ window_index: index, outcome, citations, note }) {
  searched += 1;
  if (["cited", "failed"].includes(outcome)) showNote(note);
  const cards = citations.length ? await fetchWindow(index) : 0;
  if (cards) {
    count += cards;
    badge.textContent = String(count);
    announceSoon(citations.slice(0, cards));
  }
  stopWaiting(index);
  show(find("[data-nothing]"), !count);
  show(find("[data-first]"), searched < FEW);
  show(find("[data-none-found]"), searched >= FEW);
}

// From a number to its card and back

/** @param {HTMLAnchorElement} number */
async function goToCard(number) {
  const id = number.hash.slice(1);
  if (!document.getElementById(id)) await fetchWindow(number.dataset.ref ?? "");
  const card = document.getElementById(id);
  if (!card) return;
  if (card.closest("[hidden]")) {
    filter.value = "";
    filterCards();
  }
  card.closest("details")?.setAttribute("open", "");
  pulse(card, "pulse");
  card.focus({ preventScroll: true });
  reveal(card, panel);
}

const tip = hoverCard(
  need("[data-tip-box]"),
  "[data-tip]",
  (part) => [document.createTextNode(part.dataset.tip ?? "")],
  { isBesidePointer: true },
);

document.addEventListener("click", (event) => {
  if (!isPlainClick(event)) return;
  const number = /** @type {HTMLAnchorElement | null} */ (around(event, "[data-ref]"));
  const back = /** @type {HTMLAnchorElement | null} */ (around(event, "[data-to-segment]"));
  if (!number && !back) return;
  event.preventDefault();
  tip.hide();
  if (number) goToCard(number);
  const line = back && document.getElementById(back.hash.slice(1));
  if (line) goToLine(line);
});
