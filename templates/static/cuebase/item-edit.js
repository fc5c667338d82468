// Items are edited where they stand: Escape closes the form, and the focus returns.

import { all, announce, around, find, isPlainClick, onHtmx } from "./dom.js";
import { gettext } from "./texts.js";

/** @param {Element} form */
const referenceOf = (form) => form.id.replace("form-", "");

/** @param {string} reference */
const focusPen = (reference) => find(`#edit-${reference}`)?.focus();

/** @param {Element} form */
function close(form) {
  form.remove();
  focusPen(referenceOf(form));
  announce(gettext("Not changed"));
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const form = around(event, "[data-editable] .item-form");
  if (!form) return;
  event.preventDefault();
  event.stopPropagation(); // Escape means something to lists, too
  close(form);
}, { capture: true });

document.addEventListener("click", (event) => {
  const form = around(event, "[data-edit-cancel]")?.closest("[data-editable] .item-form");
  if (!form || !isPlainClick(event)) return;
  event.preventDefault();
  close(form);
});

onHtmx("afterSettle", ({ detail }) => {
  const path = /\/library\/([a-z]+-\d+)\/edit\//.exec(detail.pathInfo?.requestPath ?? "");
  if (!path) return;
  const title = /** @type {HTMLInputElement | undefined} */ (
    all(`#form-${path[1]} [name=title]`)[0]);
  if (title) {
    title.focus();
    if (detail.requestConfig?.verb === "get") title.select();
  } else {
    focusPen(path[1]);
    announce(gettext("Saved"));
  }
});
