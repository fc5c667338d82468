// The note on words that are selected. What was written and not saved stays until the tab closes.

import { field, find, keepInTab, need, takeFromTab } from "./dom.js";

const KEPT = "kept-selection"; // its style is in highlights.css

/** @typedef {import("./passages.js").Passage} Passage */

/** @param {Passage} passage */
function draftName({ place, quote }) {
  const { reader } = need("#selection-tools").dataset; // another one may sign in in this tab
  return `note ${reader} ${JSON.stringify(place)} ${quote.slice(0, 300)}`;
}

/**
 * Open the field of the note, and mark the words: a browser shows no selection beside a field with
 * the focus.
 * @param {HTMLElement} bar
 * @param {Passage} passage
 */
export function openNote(bar, { range }) {
  need("form", bar).hidden = false;
  need('[data-act="note"]', bar).setAttribute("aria-expanded", "true");
  if (range instanceof Range && "highlights" in CSS) CSS.highlights.set(KEPT, new Highlight(range));
}

/**
 * Bring back what was written on these words and not saved; tell whether there is any.
 * @param {HTMLElement} bar
 * @param {Passage} passage
 */
export function restoreDraft(bar, passage) {
  const draft = takeFromTab(draftName(passage));
  if (draft) field("textarea", bar).value = draft;
  return Boolean(draft);
}

/**
 * Keep what was written and not saved, and no longer mark the words.
 * @param {HTMLElement | null} bar
 * @param {Passage | null} passage
 */
export function closeNote(bar, passage) {
  if ("highlights" in CSS) CSS.highlights.delete(KEPT);
  const text = /** @type {HTMLTextAreaElement | null} */ (bar && find("textarea", bar));
  if (!text || !passage) return;
  const isChanged = text.value.trim() && text.value !== text.defaultValue;
  if (isChanged) keepInTab(draftName(passage), text.value);
}

/** @param {Passage} passage */
export const dropDraft = (passage) => takeFromTab(draftName(passage));
