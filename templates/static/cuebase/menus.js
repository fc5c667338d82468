// Menus: one is open at a time, and all of it is within the window and within reach.

import { all, find, target } from "./dom.js";

const EDGE = 14; // pixels between a menu and what it must not reach: the window's end, the header
const FIELDS = "select, input:not([type=hidden]), textarea";
const LEAST = 160; // pixels of height that a menu has in any case

/**
 * Let a menu open upwards where there is more room, and scroll what does not fit.
 * @param {HTMLElement} menu
 */
function fit(menu) {
  const body = find(".menu-body", menu);
  const opener = find("summary", menu)?.getBoundingClientRect();
  if (!body || !opener || getComputedStyle(body).position !== "absolute") return;
  body.classList.remove("menu-up");
  body.style.maxHeight = body.style.marginLeft = "";
  const box = body.getBoundingClientRect();
  const beyond = box.right - (innerWidth - EDGE);
  if (beyond > 0) body.style.marginLeft = `${-Math.min(beyond, box.left - EDGE)}px`;
  const head = menu.closest(".top") ? 0 : find(".top")?.getBoundingClientRect().bottom ?? 0;
  const opensUp = box.bottom <= opener.top;
  const above = (opensUp ? box.bottom : opener.top) - Math.max(0, head) - EDGE;
  const below = innerHeight - opener.bottom - EDGE;
  const isTurned = !opensUp && box.height > below && above > below;
  body.classList.toggle("menu-up", isTurned);
  body.style.maxHeight = `${Math.max(LEAST, opensUp || isTurned ? above : below)}px`;
}

document.addEventListener("toggle", (event) => {
  const part = target(event);
  if (part.matches(".menu-body details[open]")) {
    part.scrollIntoView({ block: "nearest", behavior: "instant" });
    return;
  }
  if (!part.matches("details.menu[open]")) return;
  fit(part);
  // What opens in the flow of a panel may be below what is in sight; what floats is in sight.
  find(".menu-body", part)?.scrollIntoView({ block: "nearest", behavior: "instant" });
  if (find(":focus:not(summary)", part)) return; // the palette chose a field
  if (!all(FIELDS, part).some((field) => field.checkVisibility())) return;
  const parts = all(`:is(${FIELDS}, a, button):not(summary *)`, part);
  parts.find((entry) => entry.checkVisibility())?.focus({ preventScroll: true });
}, true);

addEventListener("resize", () => all("details.menu[open]").forEach(fit));

document.addEventListener("click", (event) => {
  for (const menu of all("details.menu[open]")) {
    if (!menu.contains(target(event))) menu.removeAttribute("open");
  }
});
