// The bar of the selected items, at the bottom of the window.

import { find, need } from "./dom.js";

const MARGINS = 32; // px around what is told

/** Have what is told at the bottom of the window stand above the bar, if not below it. */
export function makeWay() {
  const bar = find("[data-selection]");
  if (!bar) return;
  const { top, bottom, height } = bar.getBoundingClientRect();
  const hasPlace = !height || innerHeight - bottom > need("#notices").offsetHeight + MARGINS;
  document.documentElement.style.setProperty(
    "--selection-bar", hasPlace ? "0px" : `${innerHeight - top}px`);
}

for (const name of ["scroll", "resize"]) addEventListener(name, makeWay, { passive: true });
