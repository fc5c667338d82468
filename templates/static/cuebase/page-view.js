// Pages of documents: shown in a dialog, turned by keys, scrolled to the quote.

import {
  all, around, field, find, isPlainClick, isPlainKey, need, onHtmx, openDialog,
} from "./dom.js";
import { hasSingleKeys } from "./keys.js";

const dialog = /** @type {HTMLDialogElement | null} */ (find("#page-dialog"));
const body = find("#page-view-body");

// Marks

const QUOTED = ".sheet-quote, mark.quoted", WORDS = ".sheet-word, mark:not(.quoted)";

/** Scroll the frame to the quote, or to the first word of a search. */
function scrollToMark() {
  const frame = find("#page-frame");
  if (!frame) return;
  // A quote may begin in the middle of a line and go on at the left: all its lines count.
  const quoted = all(QUOTED, frame);
  const marks = quoted.length ? quoted : all(WORDS, frame).slice(0, 1);
  if (!marks.length) return;
  const boxes = marks.map((mark) => mark.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const right = Math.max(...boxes.map((box) => box.right));
  const edge = frame.getBoundingClientRect();
  frame.scrollBy({
    left: left - edge.left - Math.max(16, (frame.clientWidth - (right - left)) / 2),
    top: boxes[0].top - edge.top - frame.clientHeight / 3,
    behavior: "instant",
  });
  // In a narrow window, the page stands below much that is about it.
  const isBelow = !frame.closest("dialog") && matchMedia("(max-width: 60rem)").matches;
  if (isBelow) frame.scrollIntoView({ block: "nearest", behavior: "instant" });
}

// The dialog. Links to pages stay in it; on a page's own address they are plain links.

/**
 * Show what was swapped into the dialog.
 * @param {HTMLDialogElement} box
 * @param {HTMLElement} content
 */
function showPage(box, content) {
  const wasOpen = box.open;
  if (!wasOpen) box.showModal();
  const status = need("[data-page-said]", content).dataset.pageSaid ?? "";
  if (wasOpen) need("[data-page-status]", box).textContent = status;
  // Not by "autofocus": htmx heeds that later, and would take the focus from a search box. Who
  // typed a number reads on, and turns pages by keys.
  const active = document.activeElement;
  if (!wasOpen || !content.contains(active) || active?.id === "page-number") {
    need("#page-frame", content).focus({ preventScroll: true });
  }
  content.scrollTop = 0;
  scrollToMark();
  fetchNext();
}

if (dialog && body) {
  // A later page replaces one on its way. Rejected: aborted, or told by the events below.
  const load = (/** @type {string} */ address) =>
    htmx.ajax("GET", address, { source: body, target: body, swap: "innerHTML" }).catch(() => {});

  document.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (around(event, "a[data-page-link]"));
    if (!link || event.defaultPrevented || !isPlainClick(event)) return;
    event.preventDefault();
    load(link.href);
  });
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement | null} */ (around(event, "form[data-page-form]"));
    if (!form) return;
    event.preventDefault();
    const values = /** @type {[string, string][]} */ ([...new FormData(form)]);
    load(`${form.action}?${new URLSearchParams(values)}`);
  });
  onHtmx("afterSwap", ({ detail }) => { if (detail.target === body) showPage(dialog, body); });
  for (const name of ["responseError", "sendError"]) { // their message stands outside the dialog
    onHtmx(name, ({ detail }) => { if (detail.target === body) dialog.close(); });
  }
  dialog.addEventListener("close", () => {
    htmx.trigger(body, "htmx:abort"); // a page that came later would open the dialog again
    body.replaceChildren();
  });
}

scrollToMark();

/** Fetch the image of the next page once this one is there, so that turning to it shows it. */
function fetchNext() {
  const image = /** @type {HTMLImageElement | null} */ (find("[data-page-view] [data-next-image]"));
  const { nextImage = "" } = image?.dataset ?? {};
  if (!image || !nextImage) return;
  const prefetch = () => {
    const next = new Image();
    const own = new URL(image.getAttribute("src") ?? "", location.href).pathname;
    next.fetchPriority = "low";
    next.sizes = image.sizes;
    next.srcset = image.srcset.replaceAll(own, nextImage);
  };
  if (image.complete) prefetch();
  else image.addEventListener("load", prefetch, { once: true });
}

fetchNext();

// Enter goes on from match to match, and Shift+Enter back, once the matches are those of the words.

const STEPPED = "page-find-stepped"; // a page's own address is loaded anew, and the box left

document.addEventListener("keydown", (event) => {
  const box = /** @type {HTMLInputElement | null} */ (around(event, "[data-page-search]"));
  if (!box || event.key !== "Enter" || event.isComposing) return;
  const matches = box.closest("[data-page-view]")?.querySelector("[data-page-words]");
  const isShown = matches?.getAttribute("data-page-words") === box.value.trim();
  const step = event.shiftKey ? "previous" : "next";
  const link = matches && isShown ? find(`[data-match-step="${step}"]`, matches) : null;
  if (isShown) event.preventDefault();
  if (isShown && !link) return;
  if (!box.closest("dialog")) sessionStorage.setItem(STEPPED, "1");
  link?.click();
});

// An emptied box ends the search.
document.addEventListener("input", (event) => {
  const box = /** @type {HTMLInputElement | null} */ (around(event, "[data-page-search]"));
  if (!box || box.value) return;
  const clear = box.closest("[data-page-view]")?.querySelector("[data-page-clear]");
  if (!clear) return;
  if (!box.closest("dialog")) sessionStorage.setItem(STEPPED, "1");
  /** @type {HTMLElement} */ (clear).click();
});

if (sessionStorage.getItem(STEPPED)) {
  sessionStorage.removeItem(STEPPED);
  find("[data-page-search]")?.focus({ preventScroll: true });
}

// Keys

/** @type {Record<string, string>} */
const KEYS = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  p: "previous",
  n: "next",
  "+": "larger",
  "=": "larger",
  "-": "smaller",
};

/** @param {KeyboardEvent} event */
function isElsewhere(event) {
  if (!isPlainKey(event) || around(event, "input, textarea, select")) return true;
  const open = openDialog();
  return open ? open !== dialog : !find("main [data-page-view]");
}

/**
 * Check that the arrows scroll: the page is wider than its frame, which has the focus.
 * @param {KeyboardEvent} event
 */
function isScrolling(event) {
  const frame = around(event, "#page-frame");
  if (!frame || frame !== event.target || !event.key.startsWith("Arrow")) return false;
  return frame.scrollWidth > frame.clientWidth + 1;
}

document.addEventListener("keydown", (event) => {
  if (isElsewhere(event) || isScrolling(event)) return;
  if (event.key.length === 1 && !hasSingleKeys()) return;
  if (event.key === "/" && dialog?.open) {
    field("[data-page-search]").focus();
    field("[data-page-search]").select();
    event.preventDefault();
    return;
  }
  const link = find(`[data-page-view] [data-page-key="${KEYS[event.key]}"]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});
