// A new lecture: the list of sources follows the collection and the filter.

import { all, field, find, need, show } from "./dom.js";
import { filterWords, hasWords } from "./text.js";

/** @param {HTMLInputElement} filter */
function filterSources(filter) {
  const collection = /** @type {HTMLSelectElement} */ (need("[data-narrows]"));
  const showSources = () => {
    const words = filterWords(filter.value);
    for (const note of all("[data-unready]")) {
      show(note, note.dataset.collection === collection.value);
    }
    for (const row of all(".source-choice li")) {
      const isInCollection = row.dataset.collection === collection.value;
      if (!isInCollection) field("input", row).checked = false;
      show(row, isInCollection && hasWords(row.textContent, words));
    }
  };
  filter.addEventListener("input", showSources);
  collection.addEventListener("change", showSources);
  showSources();
}

if (find("[data-narrow-sources]")) filterSources(field("[data-narrow-sources]"));
