// The words that are selected in a source, where they stand, and the mark over them.

import { all, find } from "./dom.js";
import { clock, leadingWords, wholeWords } from "./text.js";

const AROUND = 100; // characters before and after that tell equal words apart
const LINKED = 200; // characters of a quote that its link carries, to mark them
const NOT_TEXT =
  ".time, .visually-hidden, .chunk-title, .chapter-title, .pager, .cut, button, math";

/**
 * @typedef {object} Passage
 * @property {Range | Element} range an element: one of the marks of a highlight
 * @property {HTMLElement} box
 * @property {string} quote
 * @property {Record<string, string>} place what the server finds it by
 * @property {string} title
 * @property {string} said the place, for people
 * @property {string} address
 */

const TEXTS = ".prose, .page-text, .sheet-lines"; // of a page, beside its title and its tools
const BLOCKS = "p, li, tr, pre, blockquote, h1, h2, h3, h4, h5, h6, text";
const CELLS = ":is(td, th):not(:last-child)";

/**
 * Return the text of a source in a range, without times and headings between; blocks and cells are
 * parted as the server's text has them.
 * @param {Range} range
 */
function textOf(range) {
  const copied = range.cloneContents();
  for (const element of copied.querySelectorAll(NOT_TEXT)) element.remove();
  for (const element of copied.querySelectorAll(CELLS)) element.append(" | ");
  for (const element of copied.querySelectorAll(BLOCKS)) element.append("\n");
  return (copied.textContent ?? "").replaceAll(/\s+/g, " ").trim();
}

/** @param {Node} node */
const elementOf = (node) => (node instanceof Element ? node : node.parentElement);

/**
 * Move the ends of a range that cut a word; an end between two elements cuts none.
 * @param {Range} range
 */
function snapToWords(range) {
  const { startContainer: first, endContainer: last, startOffset, endOffset } = range;
  const [start, end] = wholeWords(
    { text: first instanceof Text ? first.data : "", offset: startOffset },
    { text: last instanceof Text ? last.data : "", offset: endOffset },
  );
  range.setStart(first, start);
  range.setEnd(last, end);
}

/**
 * Move the ends of a range that lie outside the text of a box to the ends of that text: who presses
 * three times on its last paragraph, or drags a little too far, means words of it.
 * @param {Range} range
 * @param {HTMLElement} box
 * @returns {boolean} whether the range has any of it
 */
function keepWithin(range, box) {
  const text = all(TEXTS, box).find((part) => range.intersectsNode(part)) ?? box;
  if (!range.intersectsNode(text)) return false;
  if (!text.contains(range.startContainer)) range.setStart(text, 0);
  if (!text.contains(range.endContainer)) range.setEnd(text, text.childNodes.length);
  return true;
}

/**
 * Return the text between a range and an end of its box.
 * @param {HTMLElement} box
 * @param {Range} range
 * @param {boolean} isBefore
 */
function textBeside(box, range, isBefore) {
  const beside = document.createRange();
  const node = isBefore ? range.startContainer : range.endContainer;
  const offset = isBefore ? range.startOffset : range.endOffset;
  const chunk = elementOf(node)?.closest(".chunk") ?? box; // not the hours before
  beside.selectNodeContents(chunk);
  if (isBefore) beside.setEnd(node, offset);
  else beside.setStart(node, offset);
  const text = textOf(beside);
  return isBefore ? text.slice(-AROUND) : text.slice(0, AROUND);
}

/**
 * Tell whether a range has words of several passages, as of two hits: they follow each other
 * nowhere.
 * @param {Range} range
 */
const isOfSeveral = (range) => all("[data-passage]").filter((box) => {
  const part = range.cloneRange();
  return range.intersectsNode(box) && keepWithin(part, box) && textOf(part);
}).length > 1;

/**
 * Return the passage of a source that is selected, in whole words.
 * @returns {Passage | null}
 */
export function selectedPassage() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0).cloneRange();
  const inner = [range.startContainer, range.endContainer].map(elementOf);
  const box = /** @type {HTMLElement | null | undefined} */ (
    inner.map((element) => element?.closest("[data-passage]")).find(Boolean));
  if (!box || isOfSeveral(range) || !keepWithin(range, box)) return null;
  snapToWords(range);
  const quote = textOf(range);
  return quote ? passageIn(box, range, quote) : null;
}

/**
 * @param {HTMLElement} box
 * @param {Range} range
 * @param {string} quote
 * @returns {Passage}
 */
function passageIn(box, range, quote) {
  const { source = "", title = "", page = "", link = "" } = box.dataset;
  const line = /** @type {HTMLElement | null | undefined} */ (
    elementOf(range.startContainer)?.closest("[data-ms]"));
  const start = line?.dataset.ms ?? box.dataset.start ?? "";
  const isRecording = link.endsWith("t=");
  const path = isRecording ? `${link}${Math.floor(Number(start) / 1000)}s` : link;
  const address = new URL(path, location.href);
  if (!path.includes("citation")) {
    for (const name of ["from", "to", "until"]) address.searchParams.delete(name);
    address.searchParams.set("passage", leadingWords(quote, LINKED));
  }
  return {
    range,
    box,
    quote,
    place: {
      source, quote, start, page,
      prefix: textBeside(box, range, true), suffix: textBeside(box, range, false),
    },
    title,
    said: isRecording ? clock(Number(start)) : box.dataset.place ?? "",
    address: address.href,
  };
}

/**
 * Return the text nodes of a range, cut at its ends.
 * @param {Range} range
 */
export function textNodes(range) {
  const walker = document.createTreeWalker(
    range.commonAncestorContainer.parentElement ?? range.commonAncestorContainer,
    NodeFilter.SHOW_TEXT,
  );
  const nodes = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (range.intersectsNode(node) && !node.parentElement?.closest(NOT_TEXT)) nodes.push(node);
  }
  const { startContainer, startOffset, endContainer, endOffset } = range;
  return nodes.map((node) => {
    if (node === endContainer) node.splitText(endOffset);
    return node === startContainer ? node.splitText(startOffset) : node;
  }).filter((node) => node.data.trim());
}

/**
 * Select the words of the hit with the focus, the sentence that is marked, the line that is read,
 * or the first in sight.
 */
export function selectLine() {
  const item = document.activeElement?.closest(".passage, .quotation");
  const words = item && find("[data-passage]", item);
  const marks = words ? [] : all("[data-passage] mark.quoted");
  const current = find(".cue.at");
  if (marks.length && (!current || marks.some((mark) => current.contains(mark)))) {
    getSelection()?.setBaseAndExtent(marks[0], 0, marks[marks.length - 1], 1);
    return;
  }
  const line = words ?? current ?? firstInView();
  const text = line && (find(":scope > span:not(.visually-hidden)", line) ?? line);
  if (text) getSelection()?.selectAllChildren(text);
}

function firstInView() {
  const kinds = ["[data-passage] .cue", ".prose > *", ".page-text", ".sheet-lines text"];
  const lines = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`${kinds}`));
  return [...lines].find((line) => line.getBoundingClientRect().top >= 120) ?? lines[0] ?? null;
}
