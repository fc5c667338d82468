// Highlights in a text: which one a click is on, their marks, and what the server says about them.

import { all, around, find, need, parsed, silence } from "./dom.js";
import { textNodes } from "./passages.js";
import { gettext } from "./texts.js";

/** @type {Record<string, string>} */
export const HIGHLIGHTED = {
  yellow: gettext("Highlighted in yellow"),
  green: gettext("Highlighted in green"),
  blue: gettext("Highlighted in blue"),
  pink: gettext("Highlighted in pink"),
};

// Who comes back to a page may be shown it as it was loaded first, without what was kept on it.
const [visit] = /** @type {PerformanceNavigationTiming[]} */ (
  performance.getEntriesByType("navigation"));
if (visit?.type === "back_forward" && history.state?.isOutdated) {
  history.replaceState({ ...history.state, isOutdated: false }, "");
  location.reload();
}

/**
 * Return the highlight that a click is on: its id, and the mark.
 * @param {MouseEvent} event
 */
export function highlightAt(event) {
  const { clientX: x, clientY: y } = event;
  const sheet = around(event, "[data-passage] .sheet");
  const mark = around(event, "[data-passage] mark.highlight")
    ?? (sheet && all(".sheet-highlight", sheet).find((box) => { // under the text of an image
      const { left, right, top, bottom } = box.getBoundingClientRect();
      return left <= x && x <= right && top <= y && y <= bottom;
    }));
  const id = mark?.getAttribute("class")?.match(/highlight-([\da-f]{8}-[\da-f-]+)/)?.[1];
  return mark && id ? { mark, id } : null;
}

/**
 * Return the passage of a highlight, as the server describes it.
 * @param {Element} mark
 * @param {DOMStringMap} details
 * @returns {import("./passages.js").Passage}
 */
export function highlightedPassage(mark, details) {
  const { source = "", quote = "", prefix = "", suffix = "", start = "", page = "" } = details;
  const { title = "", place: said = "", link = "" } = details;
  return {
    range: mark,
    box: /** @type {HTMLElement} */ (mark.closest("[data-passage]")),
    quote,
    place: { source, quote, start, page, prefix, suffix },
    title,
    said,
    address: new URL(link, location.href).href,
  };
}

/**
 * Mark a passage that was stored as a highlight, or give its marks another colour.
 * @param {import("./passages.js").Passage} kept
 * @param {{id: string, color: string}} highlight
 */
export function paint({ range, box }, { id, color }) {
  if (find(".sheet-lines", box)) {
    const frame = { target: "#page-frame", select: "#page-frame", swap: "outerHTML" };
    htmx.ajax("GET", box.dataset.shown ?? "", frame); // an image, marked by the server
    return;
  }
  const marks = all(`mark.highlight-${id}`, box);
  if (range instanceof Range && !marks.length) marks.push(...newMarks(range));
  for (const mark of marks) mark.className = `highlight highlight-${color} highlight-${id}`;
  const button = find("button", marks[0]);
  if (button) button.textContent = `${HIGHLIGHTED[color]}: `;
}

/**
 * Mark the words of a range; the first mark has a button, for the keyboard.
 * @param {Range} range
 */
function newMarks(range) {
  const marks = textNodes(range).map((node) => {
    const mark = document.createElement("mark");
    node.replaceWith(mark);
    mark.append(node);
    return mark;
  });
  const button = document.createElement("button");
  button.type = "button";
  button.className = "visually-hidden";
  marks[0]?.prepend(button);
  return marks;
}

/**
 * Ask the server; return what is to be shown, nothing where it refuses.
 * @param {string} address
 * @param {RequestInit} options
 */
export async function send(address, options = {}) {
  const headers = { "HX-Request": "true" };
  const response = await fetch(address, { ...options, headers }).catch(() => null);
  const text = response && await response.text();
  if (response?.ok) {
    if (options.method) history.replaceState({ ...history.state, isOutdated: true }, "");
    return text;
  }
  need("#notices").replaceChildren(text ? parsed(text) : silence());
  return "";
}

/**
 * Show the list beside the text anew.
 * @param {HTMLElement} fresh
 */
export function showList(fresh) {
  const list = find("#highlights-beside");
  const count = find("#beside-highlights [data-count]");
  list?.replaceWith(fresh);
  if (count) count.textContent = fresh.dataset.total ?? "";
}
