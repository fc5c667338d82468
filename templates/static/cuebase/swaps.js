// What htmx swaps in: folds stay open, focus and position stay, news are announced.

import "./request-log.js";
import { all, announce, failure, find, need, onHtmx, silence, target } from "./dom.js";
import { gettext } from "./texts.js";

/** Renew the library's list of videos where the page has one. */
export function libraryChanged() {
  if (find("#filter")) htmx.trigger(document.body, "library-changed");
}

onHtmx("sseClose", (event) => {
  if (event.detail.type !== "message") return;
  const job = find(".job", target(event));
  const text = (/** @type {string} */ selector) => job && find(selector, job)?.textContent?.trim();
  if (job) announce(`${text("h3")}: ${text(".state")}`);
  libraryChanged();
});

/** @type {string[]} ids of the folds that a person has opened */
let openFolds = [];

/** @param {HTMLElement} container */
function rememberFolds(container) {
  openFolds = all("details[open][id]", container).map((fold) => fold.id);
}

function openAgain() {
  for (const id of openFolds) document.getElementById(id)?.setAttribute("open", "");
}

onHtmx("sseBeforeMessage", (event) => rememberFolds(target(event)));
onHtmx("sseMessage", openAgain);

// The final order of a search replaces the first one: the hit that is read stays where it is.

/** @type {{focused: string, hit: string, top: number} | null} */
let reading = null;
let shownBefore = 0;
const isResults = (/** @type {Element | undefined} */ element) =>
  Boolean(element?.matches("#results, #search-body"));

/** @param {HTMLElement} results */
function rememberReading(results) {
  const focused = document.activeElement;
  const item = results.contains(focused) ? focused?.closest("[data-item]") : null;
  const link = item && find("[data-item-link]", item);
  const top = link ? link.getBoundingClientRect().top : 0;
  reading = link && focused ? { focused: focused.id, hit: link.id, top } : null;
}

/** @param {HTMLElement} results */
function goOnReading(results) {
  if (!reading) return;
  // It may have been joined to a neighbour.
  const item = document.getElementById(reading.hit)?.closest("[data-item]");
  const hit = find("[data-item-link]", item ?? results);
  if (!hit) return;
  const same = hit.id === reading.hit && document.getElementById(reading.focused);
  (same || hit).focus({ preventScroll: true });
  if (!item) return;
  scrollBy({ top: hit.getBoundingClientRect().top - reading.top, behavior: "instant" });
}

onHtmx("beforeSwap", ({ detail }) => {
  if (!isResults(detail.target)) return;
  rememberFolds(detail.target);
  const isMore = detail.requestConfig?.elt?.matches("[data-more]");
  shownBefore = isMore ? all("[data-item-link]", detail.target).length : 0;
  rememberReading(detail.target);
});

onHtmx("afterSettle", ({ detail }) => {
  if (!isResults(detail.target)) return;
  openAgain();
  if (shownBefore) all("[data-item-link]", detail.target)[shownBefore]?.focus();
  goOnReading(detail.target);
});

// Announcements. A count is announced only to those who type; a list that renews itself is silent.

onHtmx("afterSwap", (event) => {
  const news = find("[data-announce]", target(event))?.dataset.announce;
  if (news) announce(news);
  const count = find(".count", target(event))?.textContent?.trim();
  const trigger = event.detail.requestConfig?.triggeringEvent;
  if (count && trigger?.type === "input") announce(count);
});

/** @param {CustomEvent} event */
function refiningFailed(event) {
  const line = target(event);
  if (!line.matches("[data-refining]")) return;
  line.classList.add("refining-failed");
  need("[data-refining-text]", line).textContent =
    gettext("Re-ranking was not possible; these are the first results.");
}

onHtmx("responseError", refiningFailed);
// What stands before the server, such as a proxy, refuses with a page or a few words of its own.
onHtmx("beforeSwap", ({ detail }) => {
  if (detail.xhr.status < 400 || detail.serverResponse.includes('class="notice')) return;
  const isBusy = [429, 502, 503, 504].includes(detail.xhr.status);
  detail.serverResponse = failure(isBusy
    ? gettext("The server is overloaded. Wait a few seconds, then try again.")
    : gettext("The server could not do this. Reload the page, then try again.")).outerHTML;
});
onHtmx("sendError", (event) => {
  refiningFailed(event);
  need("#notices").replaceChildren(silence());
});
