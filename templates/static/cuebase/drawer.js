// The drawer: what is going on, live while it is open, without leaving the page.

import { around, find, need, onHtmx } from "./dom.js";

const drawer = /** @type {HTMLDialogElement | null} */ (find("#drawer"));

if (drawer) {
  document.addEventListener("click", (event) => {
    if (!around(event, "[data-drawer]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    drawer.showModal();
    htmx.trigger(need("#drawer-body"), "drawer-opened");
  });
  drawer.addEventListener("close", () => {
    htmx.swap(need("#drawer-body"), "", { swapStyle: "innerHTML" }); // ends its stream
    htmx.trigger(document.body, "activity-changed");
  });

  // The body is replaced as a whole, which would be read out as a whole; this line changes seldom.
  onHtmx("afterSettle", () => {
    const text = find("[data-progress]", drawer)?.textContent?.trim() ?? "";
    const line = need("#drawer-progress");
    if (line.textContent !== text) line.textContent = text;
  });
}

// One answer counts for all that say how much is going on, so that they agree at every moment.
const COUNTERS = ["activity-now", "readiness", "indexing-state"];
onHtmx("beforeSwap", ({ detail }) => {
  const asking = detail.requestConfig?.elt?.id;
  if (!COUNTERS.includes(asking)) return;
  const answer = new DOMParser().parseFromString(detail.serverResponse, "text/html");
  for (const id of COUNTERS) {
    const counter = find(`#${id}[hx-get]`), current = answer.getElementById(id);
    if (id === asking || !counter || !current) continue;
    htmx.swap(counter, current.outerHTML, { swapStyle: "outerHTML" });
  }
});
onHtmx("afterRequest", ({ detail }) => {
  if (detail.elt?.id === "add") htmx.trigger(document.body, "activity-changed");
  // What is tried again from the drawer; its stream may have ended.
  if (detail.elt?.matches("#drawer form")) htmx.trigger(need("#drawer-body"), "drawer-opened");
});
