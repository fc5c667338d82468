// What was told at the bottom of the window leaves: what can be undone once it is too late, else
// unless somebody is at it. Errors and warnings stay until they are dismissed.

import { all, find, need } from "./dom.js";

const AGAIN = 1_000; // ms until it is looked whether somebody is still there
const notices = need("#notices");
/** @type {WeakSet<Element>} */
const leaving = new WeakSet();

/** @param {HTMLElement} notice */
function leave(notice) {
  if (!find("form", notice) && notice.matches(":hover, :focus-within")) {
    setTimeout(leave, AGAIN, notice);
    return;
  }
  if (notice.contains(document.activeElement)) need("#main").focus();
  notice.remove();
}

function watch() {
  for (const notice of all("[data-ends]", notices)) {
    if (leaving.has(notice)) continue;
    leaving.add(notice);
    setTimeout(leave, 1_000 * Number(notice.dataset.ends), notice);
  }
}

watch();
new MutationObserver(watch).observe(notices, { childList: true });
// A page that comes back as it was left: its clocks have stood still.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) for (const notice of all("[data-ends]", notices)) notice.remove();
});
