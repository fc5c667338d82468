// A question on another page than Ask: that page asks it, so that the answer appears as it is
// written. Without scripts, the question waits there for the button.

import { around, isPlainClick } from "./dom.js";

const KEY = "ask-at-once";

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement | null} */ (around(event, "form[data-ask-at-once]"));
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (!form || button?.hasAttribute("formaction")) return;
  const values = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  toAsk(`${new URL(form.action).pathname}?${new URLSearchParams(values)}`);
});

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (around(event, "a[data-ask-at-once]"));
  if (link && isPlainClick(event)) toAsk(`${link.pathname}${link.search}`);
});

/** @param {string} address */
function toAsk(address) {
  try {
    sessionStorage.setItem(KEY, address);
  } catch {
    // forbidden: then the question waits for the button
  }
}

/** Return whether a page of this site has just sent the question in this page's address. */
export function isToAsk() {
  try {
    const address = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return address === `${location.pathname}${location.search}`;
  } catch {
    return false;
  }
}
