// Before the first paint: the theme that was chosen, and the mark that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }

  const isDark = () => (chosen ? chosen === "dark" : system.matches);

  function show() {
    if (chosen) root.dataset.theme = chosen;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.setAttribute("aria-label", isDark() ? "Switch to light mode" : "Switch to dark mode");
    }
  }

  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    chosen = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", chosen); } catch { /* it lasts for this page, then */ }
    show();
  });
})();
