// Text and geometry without a page: the parts that tests run outside a browser.

import { gettext, ngettext } from "./texts.js";

/**
 * Write a time as 2:03 or 1:02:03.
 * @param {number} ms milliseconds
 */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  if (hours) parts.unshift(hours);
  return parts.map((part, index) => (index ? String(part).padStart(2, "0") : part)).join(":");
}

/**
 * Check whether a file is too short to have all that is said, or far longer than that.
 * @param {number} length milliseconds
 * @param {number} said when the last words end, in milliseconds
 */
export function isOtherLength(length, said) {
  if (!Number.isFinite(length)) return false; // a stream without an end
  return length < said - Math.max(10_000, said / 20) || length > 2 * said + 60_000;
}

/**
 * Return the start of the sentence that is said at a time; within its first second, of the one
 * before, so that a second press goes further back. Null where no sentence has begun.
 * @param {number[]} starts milliseconds, in order
 * @param {number} ms
 */
export function sentenceAt(starts, ms) {
  const earlier = starts.filter((start) => start <= ms);
  const last = earlier.at(-1) ?? null;
  return last !== null && ms - last < 1000 && earlier.length > 1 ? earlier.at(-2) ?? last : last;
}

/**
 * Return from when until when a clip is, in whole sentences: of a moment, those of the next twenty
 * seconds.
 * @param {number[]} starts when sentences begin, in milliseconds and in order
 * @param {number} ms
 * @param {number} end when the last words end
 * @param {number} [until] when the last of the words is said that are chosen
 */
export function clipAt(starts, ms, end, until) {
  const latest = ms % 1000 || until ? ms : ms + 999; // a whole second is rounded
  const start = starts.filter((each) => each <= latest).at(-1) ?? ms;
  const least = until ?? start + 20_000;
  return [start, starts.find((each) => each >= least) ?? Math.max(end, start + 1000)];
}

/**
 * Return the next index in a list, from its end to its beginning and back; 0 in an empty one.
 * @param {number} index
 * @param {number} step 1 or -1
 * @param {number} count
 */
export const stepped = (index, step, count) => (count ? (index + step + count) % count : 0);


/**
 * Cut a text after a whole word.
 * @param {string} text
 * @param {number} most characters
 */
export function leadingWords(text, most) {
  if (text.length <= most) return text;
  const end = text.lastIndexOf(" ", most);
  return text.slice(0, end > 0 ? end : most);
}

/**
 * Split what is typed into a filter into lower-case words.
 * @param {string} text
 */
export const filterWords = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/**
 * Check that a text has every word of a filter.
 * @param {string | null} text
 * @param {string[]} words
 */
export function hasWords(text, words) {
  const content = (text ?? "").toLowerCase();
  return words.every((word) => content.includes(word));
}

/**
 * Trim lines, drop empty ones and join white space, as a page shows it.
 * @param {string} text
 */
export function tidy(text) {
  const lines = text.split("\n").map((line) => line.replaceAll(/\s+/g, " ").trim());
  return lines.filter(Boolean).join("\n");
}

/**
 * Name chosen files, at most three of them.
 * @param {string[]} names
 */
export function fileNames(names) {
  if (names.length <= 3) return names.join(", ");
  const first = names.slice(0, 2).join(", ");
  return gettext("{count} files: {names} …", { count: names.length, names: first });
}

/**
 * Keep the files whose names end as a file input accepts it; hidden ones are left out, and those
 * by which Word marks that a file is open.
 * @template {{ name: string }} Named
 * @param {Named[]} files
 * @param {string} accept endings with their points, between commas
 */
export function ofKinds(files, accept) {
  const endings = accept.split(",").map((ending) => ending.trim()).filter(Boolean);
  return files.filter(({ name }) => (
    !/^(?:\.|~\$)/.test(name) && endings.some((ending) => name.toLowerCase().endsWith(ending))
  ));
}

/**
 * Split a text at backticks; every second part is code.
 * @param {string} text
 */
export const codeParts = (text) =>
  text.split("`").map((part, index) => ({ text: part, isCode: index % 2 === 1 }));

/**
 * Announce new citations to a screen reader.
 * @param {{document_name: string, page_number?: number | null, is_slide?: boolean}[]} citations
 */
export function newCitations(citations) {
  const [first] = citations;
  const { document_name: name, page_number: page, is_slide: isSlide } = first;
  const at = { name, page: page ?? "" };
  const placed = isSlide ? gettext("{name}, slide {page}", at) : gettext("{name}, page {page}", at);
  const where = page ? placed : name;
  const count = ngettext("{count} new citation", "{count} new citations", citations.length);
  const others = citations.length - 1;
  return others
    ? gettext("{count}: {where} and {others} more", { count, where, others })
    : `${count}: ${where}`;
}

/**
 * Take the complete events off the beginning of a server-sent stream.
 * @param {string} text
 */
export function takeEvents(text) {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const field = (/** @type {string} */ name) =>
      lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
    const [name] = field("event: ");
    if (name) events.push({ name, data: field("data: ").join("\n") });
  }
  return { events, rest };
}

/** @typedef {{width: number, height: number}} Size */

/**
 * Place a card below its reference, or above it where there is no room below.
 * @param {{left: number, top: number, bottom: number}} reference
 * @param {Size} card
 * @param {Size} view
 */
export function below(reference, card, view) {
  const left = Math.max(8, Math.min(reference.left - 16, view.width - card.width - 8));
  const fits = reference.bottom + 8 + card.height <= view.height - 8;
  const top = fits ? reference.bottom + 8 : Math.max(8, reference.top - card.height - 8);
  return { left, top };
}

/**
 * Place a card beside the pointer, or above it where there is no room below.
 * @param {{x: number, y: number}} pointer
 * @param {Size} card
 * @param {Size} view
 */
export function beside(pointer, card, view) {
  const left = Math.max(8, Math.min(pointer.x + 12, view.width - card.width - 8));
  const fits = pointer.y + 18 + card.height <= view.height - 8;
  return { left, top: fits ? pointer.y + 18 : pointer.y - card.height - 10 };
}

/**
 * Return where the words begin and end that two places in texts cut.
 * @param {{text: string, offset: number}} first
 * @param {{text: string, offset: number}} last
 */
export function wholeWords(first, last) {
  const isLetter = (/** @type {string | undefined} */ sign) => /[\p{L}\p{N}]/u.test(sign ?? "");
  let [start, end] = [first.offset, last.offset];
  if (isLetter(first.text[start])) while (isLetter(first.text[start - 1])) start -= 1;
  if (isLetter(last.text[end - 1])) while (isLetter(last.text[end])) end += 1;
  return [start, end];
}

/**
 * Write a quote with its source in Markdown.
 * @param {{quote: string, title: string, place: string, address: string}} passage
 */
export function quotedInMarkdown({ quote, title, place, address }) {
  const name = [title, place].filter(Boolean).join(", ").replaceAll(/[[\]]/g, "\\$&");
  return `> ${quote}\n\n— [${name}](${address})`;
}

/**
 * Check that a text is nothing but web addresses.
 * @param {string} text
 */
export const isAddresses = (text) => {
  const words = text.split(/\s+/).filter(Boolean);
  return words.length > 0 && words.length <= 100
    && words.every((word) => /^https?:\/\/[^\s/]+\.[^\s]+$/i.test(word));
};

/**
 * Check that what is pasted is a text to keep, and no word or line copied in passing.
 * @param {string} text without white space around it
 */
export const isText = (text) => (text.length > 200 || text.includes("\n")) && !isAddresses(text);

const TITLE = 60; // characters

/**
 * Propose a title for a text: what the head of WebVTT calls it, or the first words that are said or
 * written. Times, numbers of captions and markup are none.
 * @param {string} text
 */
export function proposedTitle(text) {
  const lines = text.split(/\r?\n|\r/, 500).map((line) => line.trim());
  const isVtt = /^\uFEFF?WEBVTT/.test(lines[0]);
  const body = isVtt ? Math.max(lines.indexOf(""), 1) : 0;
  const named = lines.slice(0, body).find((line) => line.startsWith("Title:"));
  const words = named?.slice("Title:".length) ?? lines.slice(body).find(
    (line, index, all) => /\p{L}/u.test(line)
      && !line.includes("-->") && !all[index + 1]?.includes("-->") && !/^NOTE\b/.test(line));
  const plain = (words ?? "").replaceAll(/<[^<>]*>/g, "")
    .replace(/^[[(]?\d{1,3}(:\d{2})+[\])]?/, "").replaceAll(/\s+/g, " ");
  return leadingWords(plain.replace(/^[^\p{L}\p{N}]+/u, ""), TITLE)
    .replace(/[\s.,:;–—-]+$/u, "");
}
