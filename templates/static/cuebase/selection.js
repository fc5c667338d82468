// Words that are selected in a source: a toolbar highlights them, copies them, asks about them.

import {
  all, announce, around, cloned, copy, find, isPlainKey, isTyping, need, openDialog, parsed,
  silence,
} from "./dom.js";
import { hasSingleKeys } from "./keys.js";
import { paint, selectedPassage, selectLine } from "./passages.js";
import { below, quotedInMarkdown } from "./text.js";
import { gettext } from "./texts.js";

/** @type {Record<string, string>} */
const HIGHLIGHTED = {
  yellow: gettext("Highlighted in yellow"),
  green: gettext("Highlighted in green"),
  blue: gettext("Highlighted in blue"),
  pink: gettext("Highlighted in pink"),
};

const KEPT = "kept-selection"; // its style is in highlights.css

/** @type {HTMLElement | null} */
let bar = null;
/** @type {import("./passages.js").Passage | null} */
let passage = null;
/** @type {HTMLElement | null} */
let before = null; // what had the focus

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

function open() {
  const selected = selectedPassage();
  if (!selected) return close();
  close();
  passage = selected;
  bar = makeBar();
  const words = selected.quote.slice(0, 300);
  const question = `What is meant by “${words}”?`;
  (openDialog() ?? document.body).append(bar); // before: outside a page, links have no parts
  const ask = /** @type {HTMLAnchorElement} */ (need('[data-act="ask"]', bar));
  ask.search = `?${new URLSearchParams({ source: selected.place.source, q: question })}`;
  const view = { width: innerWidth, height: innerHeight };
  const lines = selected.range.getBoundingClientRect();
  const { left, top } = below(lines, bar.getBoundingClientRect(), view);
  bar.style.left = `${left}px`;
  bar.style.top = `${Math.max(8, Math.min(top, innerHeight - bar.offsetHeight - 8))}px`;
}

function close() {
  bar?.remove();
  if ("highlights" in CSS) CSS.highlights.delete(KEPT);
  bar = null;
  passage = null;
}

/** @param {MouseEvent} event */
function barClicked(event) {
  const button = around(event, "[data-color], [data-act]");
  if (!button || !passage) return;
  const { color, act } = button.dataset;
  if (color) keep({ color });
  else if (act === "card") keep({ card: "1" });
  else if (act === "note") writeNote(button);
  else if (act === "copy") {
    const { quote, title, said, address } = passage;
    copy(quotedInMarkdown({ quote, title, place: said, address }), button);
  }
}

/** @param {HTMLElement} button */
function writeNote(button) {
  if (!bar) return;
  const form = need("form", bar);
  form.hidden = false;
  keepVisible();
  button.setAttribute("aria-expanded", "true");
  need("textarea", form).focus();
}

/** Mark the words that are selected: a browser shows no selection beside a field with the focus. */
function keepVisible() {
  if (passage && "highlights" in CSS) CSS.highlights.set(KEPT, new Highlight(passage.range));
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
  const response = await send(form.action, body);
  if (!response) return;
  close();
  showList(parsed(response));
  paint(target, values.color ?? "yellow");
  getSelection()?.removeAllRanges();
  before?.focus({ preventScroll: true });
  announce(values.card ? gettext("A card was made") : HIGHLIGHTED[values.color ?? "yellow"]);
}

/**
 * Send a form; return what is to be shown, nothing where it was refused.
 * @param {string} address
 * @param {FormData} body
 */
async function send(address, body) {
  const headers = { "HX-Request": "true" };
  const response = await fetch(address, { method: "POST", body, headers }).catch(() => null);
  const text = response && await response.text();
  if (response?.ok) return text;
  need("#notices").replaceChildren(text ? parsed(text) : silence());
  return "";
}

/** @param {HTMLElement} fresh */
function showList(fresh) {
  const list = find("#highlights-beside");
  const count = find("#beside-highlights [data-count]");
  list?.replaceWith(fresh);
  if (count) count.textContent = fresh.dataset.total ?? "";
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

document.addEventListener("pointerup", (event) => {
  if (around(event, ".selection-tools")) return;
  setTimeout(() => { if (!bar?.contains(document.activeElement)) open(); }); // once it is selected
});

document.addEventListener("keyup", (event) => {
  if (event.shiftKey && event.key.startsWith("Arrow") && !around(event, ".selection-tools")) open();
});

document.addEventListener("selectionchange", () => {
  if (getSelection()?.isCollapsed && !bar?.contains(document.activeElement)) close();
});
addEventListener("scroll", () => { if (!bar?.contains(document.activeElement)) close(); }, true);
