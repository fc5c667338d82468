// The citations of a lecture: cards beside the transcript, newest first until it ends. A card that
// the next windows cite again lasts longer; other passages of its windows are folded beneath it.

import { all, around, field, find, isPlainClick, need, onHtmx, show } from "./dom.js";
import { hoverCard } from "./hover.js";
import { goToLine, keepUp, lineOf, pulse, reveal } from "./lecture-transcript.js";
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
 * @param {ParentNode} source
 * @param {number | string} index
 */
function insertNumbers(source, index) {
  const template = /** @type {HTMLTemplateElement | null} */ (find("[data-refs-of]", source));
  const line = template && lineOf(template.dataset.refsOf);
  if (!line || document.getElementById(`refs-${index}`)) return;
  need(".said-text", line).append(template.content);
}

/**
 * Give a card another number, and its passages and its citation in the transcript with it.
 * @param {HTMLElement} card
 * @param {number} number
 */
function setNumber(card, number) {
  const renumbered = (/** @type {string | null} */ text) =>
    (text ?? "").replace(/\d+/, String(number));
  card.dataset.number = String(number);
  for (const rank of all(".rank", card)) {
    const text = /** @type {ChildNode} */ (rank.lastChild);
    text.textContent = renumbered(text.textContent);
  }
  for (const ref of all(`#refs-${card.dataset.cited} .ref`)) {
    ref.textContent = renumbered(ref.textContent);
    ref.setAttribute("aria-label", renumbered(ref.getAttribute("aria-label")));
  }
}

/**
 * Count the cards from one that came late: it has the number that the next one had. What lies
 * beyond the button for more cards is not known here.
 * @param {HTMLElement} card
 */
function countFrom(card) {
  const cards = all("[data-cited]", groups);
  if (!isInOrder) cards.reverse();
  const place = cards.indexOf(card);
  const isAtEdge = place === (isInOrder ? cards.length - 1 : 0);
  if (isAtEdge && find("#older", groups)) return;
  const first = place ? Number(cards[place - 1].dataset.number) + 1 : Number(card.dataset.number);
  for (const [index, each] of cards.slice(place).entries()) setNumber(each, first + index);
}

/**
 * Let a card that is shown last as long, and cite as much, as it does now.
 * @param {HTMLElement} card
 * @param {HTMLElement} fetched
 */
function extendCard(card, fetched) {
  card.dataset.windows = fetched.dataset.windows;
  need("[data-range]", card).textContent = need("[data-range]", fetched).textContent;
  const [others, more] = [need("[data-others]", card), need("[data-others]", fetched)];
  if (find("details", others)?.matches("[open]")) find("details", more)?.setAttribute("open", "");
  others.replaceChildren(...more.children);
  htmx.process(others);
}

/**
 * Fetch a window's card and numbers. Returns whether the card is new.
 * @param {number | string} index
 */
async function fetchWindow(index) {
  const isShown = () => find(`[data-windows~="${index}"]`, groups);
  if (isShown()) return false;
  const address = (page.dataset.window ?? "").replace(/0\/$/, `${index}/`);
  const response = await fetch(address, { headers: { "HX-Request": "true" } });
  if (!response.ok) return false;
  const fetched = new DOMParser().parseFromString(await response.text(), "text/html");
  const group = find("[data-cited]", fetched);
  if (!group || isShown()) return false;
  const card = document.getElementById(group.id);
  if (card) extendCard(card, group);
  else {
    insertGroup(group);
    htmx.process(group);
    insertNumbers(fetched, group.dataset.cited ?? index);
    countFrom(group);
    keepUp();
  }
  filterCards();
  return !card;
}

/** @typedef {{document_name: string, page_number?: number | null}} LiveCitation */

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
  if (citations.length && await fetchWindow(index)) {
    count += 1;
    badge.textContent = String(count);
    announceSoon(citations.slice(0, 1));
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
