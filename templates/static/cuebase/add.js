// The add box, in its dialog or on its page: paste or drop anything on any page, and it begins.

import { all, announce, around, find, need, onHtmx, openDialog } from "./dom.js";
import { libraryChanged } from "./swaps.js";
import { fileNames, isAddresses, ofKinds } from "./text.js";
import { gettext, ngettext } from "./texts.js";

const dialog = /** @type {HTMLDialogElement | null} */ (find("#add-dialog"));
const form = () => /** @type {HTMLFormElement | null} */ (find("#add"));
const chooser = () => /** @type {HTMLInputElement | null} */ (find("#files"));
const folderChooser = () => /** @type {HTMLInputElement | null} */ (find("#folder"));

/**
 * Open the box; it is loaded the first time.
 * @param {() => void} [then] what to do when it is there
 */
function open(then) {
  const other = openDialog();
  if (other instanceof HTMLDialogElement && other !== dialog) other.close();
  if (dialog && !dialog.open) dialog.showModal();
  const ready = () => {
    find("#what")?.focus();
    then?.();
  };
  if (form()) {
    ready();
    return;
  }
  const box = find("#add-box");
  if (!box) return;
  box.addEventListener("htmx:afterSettle", ready, { once: true });
  htmx.trigger(box, "add-opened");
}

/** Whether this page can add. */
const mayAdd = () => Boolean(dialog ?? form());

/** @param {string} text */
function showFileText(text) {
  need("[data-file-names]").textContent = text;
}

function showNames() {
  const names = [...(chooser()?.files ?? [])].map((file) => file.name);
  showFileText(fileNames(names) || gettext("Choose files, or drop them here"));
}

function begin() {
  showNames();
  form()?.requestSubmit();
}

/**
 * Return the files of a dropped file or folder.
 * @param {FileSystemEntry} entry
 * @returns {Promise<File[]>}
 */
async function filesOf(entry) {
  if (entry.isFile) {
    const file = /** @type {FileSystemFileEntry} */ (entry);
    return [await new Promise((resolve, reject) => { file.file(resolve, reject); })];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const files = [];
  for (;;) {
    /** @type {FileSystemEntry[]} at most a hundred at a time */
    const entries = await new Promise((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (!entries.length) return files;
    for (const inner of entries) files.push(...await filesOf(inner));
  }
}

/** @param {DataTransfer} dropped */
async function droppedFiles(dropped) {
  const items = [...dropped.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const entries = items.filter((entry) => entry !== null);
  if (!entries.length) return [...dropped.files];
  return (await Promise.all(entries.map(filesOf))).flat();
}

/** @param {File[]} files */
function addFiles(files) {
  open(() => {
    const input = chooser();
    if (!input || !files.length) return;
    const transfer = new DataTransfer();
    for (const file of files) transfer.items.add(file);
    input.files = transfer.files;
    announce(ngettext("{count} file added", "{count} files added", files.length));
    begin();
  });
}

/** @param {string} text */
function addText(text) {
  open(() => {
    const box = /** @type {HTMLTextAreaElement} */ (need("#what"));
    box.value = text;
    if (isAddresses(text)) begin();
  });
}

// Dropping: anywhere on the page, unless a field of another form takes the files.

const hasFiles = (/** @type {DragEvent} */ event) =>
  mayAdd() && Boolean(event.dataTransfer?.types.includes("Files"))
  && !around(event, "[data-own-drop]");

for (const name of /** @type {const} */ (["dragenter", "dragover"])) {
  document.addEventListener(name, (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", async (event) => {
  document.body.classList.remove("dropping");
  if (!event.dataTransfer || !hasFiles(event)) return;
  event.preventDefault();
  addFiles(await droppedFiles(event.dataTransfer));
});

// Pasting: files and addresses begin at once, in the box or where nothing is being written.

document.addEventListener("paste", (event) => {
  const isBox = Boolean(around(event, "#what"));
  if (!mayAdd() || (!isBox && around(event, "input, textarea, select, [contenteditable]"))) return;
  const files = [...(event.clipboardData?.files ?? [])];
  const text = event.clipboardData?.getData("text/plain").trim() ?? "";
  const isEmpty = !isBox || !(/** @type {HTMLTextAreaElement} */ (need("#what")).value.trim());
  if (files.length) addFiles(files);
  else if (isAddresses(text) && isEmpty) addText(text);
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (around(event, "a[data-add]"));
  if (!link || !dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const into = new URL(link.href).searchParams.get("collection");
  open(() => {
    if (link.dataset.add === "folder") folderChooser()?.click();
    const choice = /** @type {HTMLSelectElement | null} */ (find("#into"));
    if (choice && into) choice.value = into;
  });
});
document.addEventListener("change", (event) => {
  if (around(event, "#files")) begin();
  const folder = folderChooser();
  if (!folder || !around(event, "#folder")) return;
  const files = ofKinds([...(folder.files ?? [])], chooser()?.accept ?? "");
  folder.value = "";
  if (files.length) addFiles(files);
  else showFileText(gettext("This folder has no captions and no documents"));
});

// An upload's progress; the form is emptied behind it.

onHtmx("xhr:progress", ({ detail }) => {
  const bar = /** @type {HTMLProgressElement | null} */ (find(".upload-progress"));
  if (!bar || !detail.lengthComputable || !chooser()?.files?.length) return;
  bar.hidden = false;
  bar.value = (100 * detail.loaded) / detail.total;
});
onHtmx("afterRequest", ({ target, detail }) => {
  if (target !== form()) return;
  for (const bar of all(".upload-progress")) bar.hidden = true;
  if (!detail.successful) return;
  form()?.reset();
  showNames();
  libraryChanged(); // it has something, or says that something is on its way
});
