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
}
onHtmx("afterRequest", ({ detail }) => {
  if (detail.elt?.id === "add") htmx.trigger(document.body, "activity-changed");
});
