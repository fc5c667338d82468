// The bar of the selected items, at the bottom of the window.

import { all, around, find, need } from "./dom.js";

const MARGINS = 32; // px around what is told

/** Have what is told at the bottom of the window stand above the bar, if not below it. */
function makeWay() {
  const bar = find("[data-selection]");
  if (!bar) return;
  const { top, bottom, height } = bar.getBoundingClientRect();
  const hasPlace = !height || innerHeight - bottom > need("#notices").offsetHeight + MARGINS;
  document.documentElement.style.setProperty(
    "--selection-bar", hasPlace ? "0px" : `${innerHeight - top}px`);
}

/**
 * Offer what can be done with some of the chosen items; a change, if none of them is only read.
 * @param {HTMLElement[]} chosen
 */
export function showActions(chosen) {
  const possible = chosen.map(({ dataset }) => (dataset.actions ?? "").split(/\s+/));
  const mayChange = possible.every((names) => names.includes("change"));
  for (const part of all("[data-selection] [data-needs]")) {
    const { needs = "" } = part.dataset;
    const isPossible = possible.some((names) => names.includes(needs));
    part.hidden = !isPossible || (needs !== "export" && !mayChange);
    if (part instanceof HTMLButtonElement) part.disabled = part.hidden; // the keys press it, too
  }
  makeWay();
}

// Several tags are written in one field, of which the browser suggests whole values: those are what
// is written, with a tag in place of the last one.

document.addEventListener("input", (event) => {
  const field = /** @type {HTMLInputElement | null} */ (around(event, "#selection-tags"));
  if (!field?.list) return;
  const [before] = /^.*,\s*/s.exec(field.value) ?? [""];
  const written = before.split(",").map((tag) => tag.trim().toLowerCase());
  for (const choice of field.list.options) {
    choice.label ||= choice.value; // the tag alone
    choice.value = before + choice.label;
    choice.disabled = written.includes(choice.label.toLowerCase());
  }
});

for (const name of ["scroll", "resize"]) addEventListener(name, makeWay, { passive: true });
