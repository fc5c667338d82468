// What HTML and htmx cannot do alone: keys, dialogs, the file chooser, copying, announcements.
(() => {
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  function announce(text) {
    const place = find("#announcer");
    place.textContent = "";
    setTimeout(() => { place.textContent = text; }, 50);
  }

  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = document.createElement("textarea"); // without HTTPS there is no clipboard API
      box.value = text;
      document.body.append(box);
      box.select();
      document.execCommand("copy");
      box.remove();
    }
    announce("Copied");
    button?.classList.add("copied");
    setTimeout(() => button?.classList.remove("copied"), 1500);
  }

  window.cuebase = { announce, copy };

  // Clicks

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) find(`#${opener.dataset.open}`).showModal();
    event.target.closest("[data-close]")?.closest(".notice").remove();
    const copier = event.target.closest("[data-copy]");
    if (copier) copy(find(copier.dataset.copy).textContent, copier);
    for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    if (event.target instanceof HTMLDialogElement) event.target.close();
  });

  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });

  // Keys

  const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]");

  function move(step) {
    const links = all("[data-item-link]");
    if (!links.length) return false;
    const now = links.indexOf(document.activeElement);
    links[Math.min(Math.max(now + step, 0), links.length - 1)].focus();
    return true;
  }

  function clear(box) {
    if (!box.value) return box.blur();
    box.value = "";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  const inList = () => document.activeElement.closest("[data-item]");

  // What can be done to one hit says its key itself.
  function onHit(key) {
    const part = /^[a-z]$/.test(key) ? inList()?.querySelector(`[data-key="${key}"]`) : null;
    part?.click();
    return Boolean(part);
  }

  // Single keys get in the way of speech input, so they can be switched off.
  const keysBox = find("#single-keys");
  let singleKeys = true;
  try { singleKeys = localStorage.getItem("single-keys") !== "off"; } catch { /* storage may be forbidden */ }
  if (keysBox) {
    keysBox.checked = singleKeys;
    keysBox.addEventListener("change", () => {
      singleKeys = keysBox.checked;
      try { localStorage.setItem("single-keys", singleKeys ? "on" : "off"); } catch { /* it lasts for this page, then */ }
    });
  }

  const KEYS = {
    "/": () => { const box = find("[data-search]"); box?.focus(); box?.select(); return Boolean(box); },
    "?": () => { find("#shortcuts")?.showModal(); return true; },
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => Boolean(inList()) && move(1),
    ArrowUp: () => Boolean(inList()) && move(-1),
    c: () => { const button = find("[data-copy-link]"); button?.click(); return Boolean(button); },
    Escape: () => { const box = find("[data-search]"); if (!box?.value) return false; clear(box); return true; },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find("dialog[open]")) return;
    if (event.key === "Escape") {
      const menu = all("details.menu[open]").at(-1);
      if (menu) { menu.open = false; find("summary", menu).focus(); return; }
    }
    const box = event.target.closest("[data-search]");
    if (box && event.key === "Escape") { clear(box); event.preventDefault(); return; }
    if (box && event.key === "ArrowDown") { if (move(1)) event.preventDefault(); return; }
    if (isTyping(event.target)) {
      if (event.key === "Enter" && !event.shiftKey && event.target.matches("[data-submit-on-enter]")) {
        event.preventDefault();
        event.target.form.requestSubmit();
      }
      return;
    }
    if (!singleKeys && event.key.length === 1) return;
    if (KEYS[event.key]?.() || onHit(event.key)) event.preventDefault();
  });

  // Files: chosen, dropped (folders too)

  const chooser = find("#files");

  function showNames() {
    const names = [...chooser.files].map((file) => file.name);
    const text = names.length > 3 ? `${names.length} files: ${names.slice(0, 2).join(", ")} …` : names.join(", ");
    find("[data-file-names]").textContent = text || "Choose files, or drop them here";
  }

  async function filesIn(entry) {
    if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // gives at most a hundred at a time
      if (!part.length) return found;
      for (const inner of part) found.push(...await filesIn(inner));
    }
  }

  if (chooser) {
    const zone = find("[data-dropzone]");
    chooser.addEventListener("change", showNames);
    for (const kind of ["dragenter", "dragover"]) {
      document.addEventListener(kind, (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        zone.classList.add("dropping");
      });
    }
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) zone.classList.remove("dropping"); });
    document.addEventListener("drop", async (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.remove("dropping");
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      const files = entries.length ? (await Promise.all(entries.map(filesIn))).flat() : [...event.dataTransfer.files];
      const transfer = new DataTransfer();
      for (const file of files) transfer.items.add(file);
      chooser.files = transfer.files;
      showNames();
      find(".add-submit").focus();
      announce(`${files.length} file${files.length === 1 ? "" : "s"} chosen. Press Add.`);
    });
  }

  // htmx

  const addForm = find("#add");
  const bar = find(".upload-progress");

  addForm?.addEventListener("htmx:xhr:progress", (event) => {
    if (!event.detail.lengthComputable || !chooser.files.length) return;
    bar.hidden = false;
    bar.value = (100 * event.detail.loaded) / event.detail.total;
  });

  addForm?.addEventListener("htmx:afterRequest", (event) => {
    bar.hidden = true;
    if (event.target !== addForm || !event.detail.successful) return;
    addForm.reset();
    showNames();
    if (find("#added [data-arrived]")) libraryChanged();
  });

  function libraryChanged() {
    if (find("#filter")) htmx.trigger(document.body, "library-changed");
  }

  document.addEventListener("htmx:sseClose", (event) => {
    if (event.detail.type !== "message") return;
    const job = find(".job", event.target);
    if (job) announce(`${find("h3", job).textContent.trim()}: ${find(".state", job).textContent.trim()}`);
    libraryChanged();
  });

  // What a person has opened stays open when fresh content comes.
  let open = [];
  document.addEventListener("htmx:sseBeforeMessage", (event) => { open = all("details[open][id]", event.target).map((one) => one.id); });
  document.addEventListener("htmx:sseMessage", () => { for (const id of open) document.getElementById(id)?.setAttribute("open", ""); });

  // The same where a search's final order takes the place of the first one; and whoever reads a hit goes on reading it, where it was on the screen.
  let reading = null;
  let seen = 0;

  document.addEventListener("htmx:beforeSwap", (event) => {
    const place = event.detail.target;
    if (!place?.matches("#results, #found")) return;
    open = all("details[open][id]", place).map((one) => one.id);
    const more = event.detail.requestConfig?.elt?.matches("[data-more]");
    seen = more ? all("[data-item-link]", place).length : 0;
    const item = place.contains(document.activeElement) && inList();
    const link = item && find("[data-item-link]", item);
    reading = link ? { id: document.activeElement.id, hit: link.id, top: link.getBoundingClientRect().top } : null;
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    const place = event.detail.target;
    if (!place?.matches("#results, #found")) return;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (seen) all("[data-item-link]", place)[seen]?.focus();
    const hit = reading && (document.getElementById(reading.hit) ?? find("[data-item-link]", place));
    if (!hit) return;
    (document.getElementById(reading.id) ?? hit).focus({ preventScroll: true });
    if (hit.id === reading.hit) scrollBy({ top: hit.getBoundingClientRect().top - reading.top, behavior: "instant" });
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const said = find("[data-announce]", event.target);
    if (said) announce(said.dataset.announce);
  });

  for (const kind of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(kind, (event) => {
      if (!event.target.matches("[data-refining]")) return;
      event.target.classList.add("refining-failed");
      find("[data-refining-text]", event.target).textContent = "A closer look was not possible; these are the first results.";
    });
  }

  // How many were found is said only to those who are typing; a list that renews itself stays silent.
  document.addEventListener("htmx:afterSwap", (event) => {
    const count = find(".count", event.target);
    if (count && event.detail.requestConfig?.triggeringEvent?.type === "input") announce(count.textContent.trim());
  });

  document.addEventListener("htmx:sendError", () => {
    const notice = document.createElement("div");
    notice.className = "notice notice-error";
    notice.setAttribute("role", "alert");
    notice.textContent = "The server does not answer. Check that it runs, then try again.";
    find("#notices").replaceChildren(notice);
  });
})();
