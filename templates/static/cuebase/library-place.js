// Where somebody was in the library, for the page that follows an action or a link of the list.

import { all, around, keepInTab, takeFromTab } from "./dom.js";

const PLACE = "library-place"; // in the list, when its items were acted on
const LINK = "library-link"; // that was followed: removes a filter, or sorts
const LINKS = ".filter-chips a, .items th a";

let isByKey = false;
document.addEventListener("keydown", () => { isByKey = true; }, true);
document.addEventListener("pointerdown", () => { isByKey = false; }, true);

export const here = () => `${location.pathname}${location.search}`;

/**
 * Keep where the list is scrolled to, and which item an action begins with.
 * @param {number} item
 */
export function keepPlace(item) {
  keepInTab(PLACE, JSON.stringify({ page: here(), top: scrollY, item: isByKey ? item : -1 }));
}

/**
 * Go to where the list was when its items were acted on. Who acted by keyboard goes on there.
 * @param {(isNeeded: () => boolean) => Promise<void>} showMore
 */
export async function returnToPlace(showMore) {
  const { page = "", top = 0, item = -1 } = JSON.parse(takeFromTab(PLACE) ?? "{}");
  if (page !== here()) return;
  const { documentElement: root } = document;
  if (top) await showMore(() => root.scrollHeight < top + innerHeight);
  const links = all("[data-item-link]");
  if (item >= 0) links[Math.min(item, links.length - 1)]?.focus({ preventScroll: true });
  if (top) scrollTo({ top, behavior: "instant" });
}

document.addEventListener("click", (event) => {
  const link = around(event, LINKS);
  if (!link || !isByKey) return;
  const kind = link.closest("th") ? ".items th a" : ".filter-chips a, #filter [type=search]";
  keepInTab(LINK, JSON.stringify({ kind, number: all(kind).indexOf(link) }));
});

/** Give the focus back to the link that was followed, or to one beside it. */
export function returnToLink() {
  const { kind = "", number = 0 } = JSON.parse(takeFromTab(LINK) ?? "{}");
  const links = kind ? all(kind) : [];
  links[Math.min(number, links.length - 1)]?.focus({ preventScroll: true });
}
