// Before the first paint: the chosen theme, and the mark that scripts run. No module, so as not
// to be deferred.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const system = matchMedia("(prefers-color-scheme: dark)");
  /** @type {string | null} */
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }

  const isDark = () => (chosen ? chosen === "dark" : system.matches);

  function show() {
    if (chosen) root.dataset.theme = chosen;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      const { toLight = "", toDark = "" } = /** @type {HTMLElement} */ (button).dataset;
      button.setAttribute("aria-label", isDark() ? toLight : toDark);
    }
  }

  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("[data-theme-toggle]")) return;
    chosen = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", chosen); } catch { /* it lasts for this page, then */ }
    show();
  });
})();
