// REST tried out on its own pages: a form becomes a request, and the answer is shown below it.

import { all, field, find, need, show, target } from "./dom.js";

const LONGEST = 100_000; // characters of an answer that are shown

document.addEventListener("submit", (event) => {
  const form = target(event);
  if (event.defaultPrevented || !form.matches("[data-try]")) return; // or it was not confirmed
  event.preventDefault();
  send(form);
});

// An address such as …/docs/search#search opens its operation.
function open() {
  const operation = document.getElementById(location.hash.slice(1));
  if (operation instanceof HTMLDetailsElement) {
    operation.open = true;
    operation.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();

/** @param {HTMLElement} form */
async function send(form) {
  const status = need("[data-try-status]", form);
  const output = need("[data-try-answer]", form);
  const body = find("[data-body]", form);
  const method = form.dataset.method ?? "GET";
  status.textContent = "…";
  try {
    const response = await fetch(address(form), {
      method,
      headers: {
        Accept: "application/json, */*",
        ...(method !== "GET" && { "X-CSRFToken": field("[name=csrfmiddlewaretoken]").value }),
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: /** @type {HTMLTextAreaElement} */ (body).value }),
    });
    status.textContent = `${response.status} ${response.statusText}`;
    output.textContent = readable(await response.text());
  } catch (error) {
    status.textContent = String(error);
    output.textContent = "";
  }
  show(output, Boolean(output.textContent));
}

/**
 * Return the address that a form's fields make of its path.
 * @param {HTMLElement} form
 */
function address(form) {
  const inputs = /** @type {HTMLInputElement[]} */ (all("[data-place]", form));
  const filled = inputs.filter((input) => input.value.trim());
  const inPath = filled.filter((input) => input.dataset.place === "path");
  const path = inPath.reduce(
    (path, input) => path.replace(`{${input.name}}`, encodeURIComponent(input.value.trim())),
    form.dataset.path ?? "",
  );
  const query = new URLSearchParams(
    filled.filter((input) => input.dataset.place === "query").flatMap(pairs),
  );
  return query.size ? `${path}?${query}` : path;
}

/**
 * Return what a field adds to a query; one of a list has several values.
 * @param {HTMLInputElement} input
 */
const pairs = (input) =>
  ("many" in input.dataset ? input.value.split(",") : [input.value])
    .map((value) => [input.name, value.trim()]);

/**
 * Return JSON with line breaks, and of anything else the beginning.
 * @param {string} text
 */
function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, LONGEST);
  } catch {
    return text.slice(0, LONGEST);
  }
}
