// Every page: buttons, menus and dialogs, keys, the file chooser and what htmx swaps in.

import "./add.js";
import "./clips.js";
import "./drawer.js";
import "./item-edit.js";
import "./keys.js";
import "./notices.js";
import "./page-view.js";
import "./palette.js";
import "./selection.js";
import "./swaps.js";
import { all, around, copiedText, copy, find, need, scrolling, target } from "./dom.js";

document.addEventListener("click", (event) => {
  const opener = around(event, "[data-open]");
  if (opener) /** @type {HTMLDialogElement} */ (need(`#${opener.dataset.open}`)).showModal();
  around(event, "[data-close]")?.closest(".notice")?.remove();
  const copier = around(event, "[data-copy]");
  const source = copier && find(copier.dataset.copy ?? "");
  if (copier && source) copy(copiedText(source), copier);
  for (const menu of all("details.menu[open]")) {
    if (!menu.contains(target(event))) menu.removeAttribute("open");
  }
  if (event.target instanceof HTMLDialogElement) event.target.close(); // its backdrop
});

// A menu that opens below what is in sight comes into it, with the keyboard in its form.
document.addEventListener("toggle", (event) => {
  const menu = target(event);
  if (!menu.matches("details.menu[open]")) return;
  find(".menu-body", menu)?.scrollIntoView({ block: "nearest", behavior: scrolling() });
  if (find(":focus:not(summary)", menu)) return; // the palette chose a field
  find("select, input:not([type=hidden]), textarea", menu)?.focus({ preventScroll: true });
}, true);

document.addEventListener("submit", (event) => {
  const question = target(event).dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
