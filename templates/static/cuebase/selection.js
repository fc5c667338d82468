// Words that are selected in a source: a toolbar highlights them, copies them, asks about them.

import {
  all, announce, around, cloned, copy, field, find, isPlainClick, isPlainKey, isTyping, need,
  openDialog, parsed,
} from "./dom.js";
import { HIGHLIGHTED, highlightAt, highlightedPassage, paint, send, showList }
  from "./highlights.js";
import { hasSingleKeys } from "./keys.js";
import { selectedPassage, selectLine } from "./passages.js";
import { closeNote, dropDraft, openNote, restoreDraft } from "./selection-note.js";
import { below, quotedInMarkdown } from "./text.js";
import { gettext } from "./texts.js";

/** @type {HTMLElement | null} */
let bar = null;
/** @type {import("./passages.js").Passage | null} */
let passage = null;
/** @type {HTMLElement | null} */
let before = null; // what had the focus
let opening = ""; // the highlight whose details are on their way

function makeBar() {
  const tools = cloned("#selection-tools");
  tools.addEventListener("pointerdown", (event) => {
    if (!around(event, "textarea")) event.preventDefault(); // keeps the selection
  });
  tools.addEventListener("click", barClicked);
  tools.addEventListener("keydown", barKeyPressed);
  need("form", tools).addEventListener("submit", (event) => {
    event.preventDefault();
    keep({});
  });
  return tools;
}

/** Open the toolbar of the words that are selected; where none are, close it. */
function open() {
  const selected = selectedPassage();
  close();
  if (selected) show(selected);
}

/** @param {import("./passages.js").Passage} next */
function show(next) {
  passage = next;
  bar = makeBar();
  const words = next.quote.slice(0, 300);
  const question = gettext("What is meant by “{words}”?", { words });
  (openDialog() ?? need("main")).append(bar); // before: outside a page, links have no parts
  const ask = /** @type {HTMLAnchorElement} */ (need('[data-act="ask"]', bar));
  ask.search = `?${new URLSearchParams({ source: next.place.source, q: question })}`;
  if (restoreDraft(bar, next)) openNote(bar, next);
  place();
}

/**
 * Open the toolbar of a highlight that stands in the text, with its note and the ways to change it.
 * @param {{mark: HTMLElement, id: string}} highlight
 * @param {boolean} isByKey
 */
async function openHighlight({ mark, id }, isByKey) {
  close();
  opening = id;
  const form = /** @type {HTMLFormElement} */ (need("form", cloned("#selection-tools")));
  const add = new URL(form.getAttribute("action") ?? "", location.href);
  const html = await send(new URL(`../${id}/`, add).href);
  if (!html || opening !== id) return;
  const details = parsed(html);
  show(highlightedPassage(mark, details.dataset));
  if (!bar) return;
  bar.append(details);
  bar.setAttribute("aria-label", gettext("Highlight"));
  const { color, note = "" } = details.dataset;
  find(`[data-color="${color}"]`, bar)?.setAttribute("aria-pressed", "true");
  const text = field("textarea", bar);
  text.defaultValue = note; // a draft of a change stays
  text.required = Boolean(note); // an empty one is not sent: it would stay
  place();
  if (isByKey) {
    before = /** @type {HTMLElement | null} */ (document.activeElement);
    need("button", bar).focus({ preventScroll: true });
  }
  announce(`${details.dataset.quote} ${details.textContent}`);
}

/** Place the toolbar beside the words, all of it within the window. */
function place() {
  if (!bar || !passage) return;
  const view = { width: innerWidth, height: innerHeight };
  const lines = passage.range.getBoundingClientRect();
  const { left, top } = below(lines, bar.getBoundingClientRect(), view);
  bar.style.left = `${left}px`;
  bar.style.top = `${Math.max(8, Math.min(top, innerHeight - bar.offsetHeight - 8))}px`;
}

function close() {
  closeNote(bar, passage);
  bar?.remove();
  bar = null;
  passage = null;
  opening = "";
}

/** @param {MouseEvent} event */
function barClicked(event) {
  const button = around(event, "[data-color], [data-act]");
  if (!button || !passage) return;
  const { color, act } = button.dataset;
  if (color) keep({ color });
  else if (act === "card") keep({ card: "1" });
  else if (act === "note") writeNote();
  else if (act === "copy") {
    const { quote, title, said, address } = passage;
    copy(quotedInMarkdown({ quote, title, place: said, address }), button);
  }
}

function writeNote() {
  if (!bar || !passage) return;
  openNote(bar, passage);
  place(); // it has grown
  need("textarea", bar).focus();
}

/** @param {KeyboardEvent} event */
function barKeyPressed(event) {
  if (!bar || !isPlainKey(event)) return;
  if (event.key === "Escape") {
    close();
    before?.focus({ preventScroll: true });
  } else if (around(event, "textarea") || !event.key.startsWith("Arrow")) {
    return;
  } else if (event.shiftKey) {
    extend(event.key);
  } else {
    move(["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 1);
  }
  event.preventDefault();
  event.stopPropagation();
}

/** @param {number} step */
function move(step) {
  const buttons = all("button:not(form *), a", bar ?? document);
  const current = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  buttons[(current + step + buttons.length) % buttons.length].focus();
}

/**
 * Move the end of the selection by a word, or by a line.
 * @param {string} key
 */
function extend(key) {
  const unit = ["ArrowLeft", "ArrowRight"].includes(key) ? "word" : "line";
  const way = ["ArrowLeft", "ArrowUp"].includes(key) ? "backward" : "forward";
  getSelection()?.modify("extend", way, unit);
  open();
  find("button", bar ?? document)?.focus({ preventScroll: true });
  if (passage) announce(passage.quote);
}

// Keeping

/** @param {Record<string, string>} values */
async function keep(values) {
  if (!passage || !bar) return;
  const target = passage;
  const form = /** @type {HTMLFormElement} */ (need("form", bar));
  const body = new FormData(form); // with the token against forged requests
  for (const [name, value] of Object.entries({ ...target.place, ...values })) body.set(name, value);
  const response = await send(form.action, { method: "POST", body });
  if (!response) return;
  close();
  dropDraft(target);
  const list = parsed(response);
  const { latest: id = "", color = "yellow" } = need("[data-latest]", list).dataset;
  showList(list);
  paint(target, { id, color }); // it may have had one
  getSelection()?.removeAllRanges();
  before?.focus({ preventScroll: true });
  const news = values.card ? "[data-card-made]" : "[data-note-kept]";
  if (values.color || !find(news, list)) announce(HIGHLIGHTED[color]);
  else need("#notices").replaceChildren(cloned(news, list));
}

// When it opens

/** @param {KeyboardEvent} event */
function isOpener(event) {
  return event.key === "h" && hasSingleKeys() && isPlainKey(event) && !isTyping(event);
}

document.addEventListener("keydown", (event) => {
  if (!find("[data-passage]") || !isOpener(event)) return;
  if (getSelection()?.isCollapsed) selectLine();
  before = /** @type {HTMLElement | null} */ (document.activeElement);
  open();
  find("button", bar ?? document.createElement("i"))?.focus({ preventScroll: true });
  if (passage) announce(passage.quote);
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const highlight = highlightAt(event);
  const isByKey = event.detail === 0;
  if (!highlight || !isPlainClick(event) || around(event, "a")) return;
  if (isByKey || getSelection()?.isCollapsed) { // after the end of a selection, which closes it
    setTimeout(() => openHighlight(highlight, isByKey));
  }
});

document.addEventListener("pointerup", (event) => {
  if (around(event, ".selection-tools")) return;
  setTimeout(() => { if (!bar?.contains(document.activeElement)) open(); }); // once it is selected
});

document.addEventListener("keyup", (event) => {
  if (event.shiftKey && event.key.startsWith("Arrow") && !around(event, ".selection-tools")) open();
});

const STILL = 350; // ms after which fingers have selected what they want
let isTouched = false; // the last pointer was a finger
let later = 0;

document.addEventListener("pointerdown", ({ pointerType }) => {
  isTouched = pointerType === "touch";
}, true);

document.addEventListener("selectionchange", () => {
  if (bar?.contains(document.activeElement)) return;
  if (getSelection()?.isCollapsed && passage?.range instanceof Range) close();
  // A long press and the handles of a selection end without an event of a pointer.
  clearTimeout(later);
  if (isTouched) later = setTimeout(openOnce, STILL);
});

function openOnce() {
  const selected = selectedPassage();
  if (selected && selected.quote !== passage?.quote) open();
}
addEventListener("scroll", () => { if (!bar?.contains(document.activeElement)) close(); }, true);
