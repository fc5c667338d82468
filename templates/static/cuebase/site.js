// Every page: buttons and dialogs, keys, the file chooser and what htmx swaps in.

import "./add.js";
import "./clips.js";
import "./drawer.js";
import "./item-edit.js";
import "./keys.js";
import "./menus.js";
import "./notices.js";
import "./page-view.js";
import "./palette.js";
import "./selection.js";
import "./swaps.js";
import { around, copiedText, copy, find, need, target } from "./dom.js";

document.addEventListener("click", (event) => {
  const opener = around(event, "[data-open]");
  if (opener) /** @type {HTMLDialogElement} */ (need(`#${opener.dataset.open}`)).showModal();
  around(event, "[data-close]")?.closest(".notice")?.remove();
  const copier = around(event, "[data-copy]");
  const source = copier && find(copier.dataset.copy ?? "");
  if (copier && source) copy(copiedText(source), copier);
  if (event.target instanceof HTMLDialogElement) event.target.close(); // its backdrop
});

document.addEventListener("submit", (event) => {
  const question = target(event).dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
