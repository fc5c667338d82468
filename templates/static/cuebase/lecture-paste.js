// Pasted text is added without leaving the page: the box stays open for what is said next.

import { announce, find, need, onHtmx, show } from "./dom.js";
import { gettext } from "./texts.js";

const box = find("#paste");
const form = /** @type {HTMLFormElement | null} */ (find("[data-say]"));
let isAdding = false;
let isEnding = false; // by the button of this page, which adds the text first
let isOver = false;

/** @param {HTMLFormElement} form */
const fieldOf = (form) => /** @type {HTMLTextAreaElement} */ (need("textarea", form));

/** @param {HTMLFormElement} form */
function showAsEnded(form) {
  const text = fieldOf(form);
  if (!text.value.trim()) {
    box?.remove();
    return;
  }
  box?.setAttribute("open", "");
  text.readOnly = true; // it can be copied
  show(find("[data-add-it]", form), false);
  show(find("[data-not-added]", form));
}

/** Take no more text; what was not added yet stays to be copied. */
export function endPasting() {
  isOver = true;
  if (form && !isAdding && !isEnding) showAsEnded(form);
}

/** @param {HTMLFormElement} form */
async function add(form) {
  const text = fieldOf(form);
  if (!text.value.trim()) {
    text.value = "";
    text.reportValidity(); // it is required, in the browser's words
    return;
  }
  isAdding = true;
  text.readOnly = true; // what is typed now would be neither sent nor kept
  try {
    await htmx.ajax("POST", form.action, { source: form, swap: "none" });
  } catch {
    // That the server does not answer is told already.
  } finally {
    isAdding = false;
    text.readOnly = false;
    if (isOver) showAsEnded(form);
    else text.focus();
  }
}

if (form) {
  form.addEventListener("submit", (event) => {
    const isEnd = event.submitter?.hasAttribute("formaction") ?? false;
    if (isEnd && !isAdding && !isEnding) {
      isEnding = true; // a second click would add the text again
      return;
    }
    event.preventDefault();
    if (!isEnd && !isAdding) add(form);
  });
  onHtmx("afterRequest", ({ detail }) => {
    if (!detail.successful) return;
    fieldOf(form).value = "";
    announce(gettext("Added"));
  }, form);
  addEventListener("pageshow", () => { isEnding = false; }); // also where one goes back to it
}
