// The add box, in its dialog or on its page: paste or drop anything on any page, and it begins.

import {
  all, announce, around, field, find, isTyping, need, onHtmx, openDialog,
} from "./dom.js";
import { libraryChanged } from "./swaps.js";
import { fileNames, isAddresses, isText, ofKinds, proposedTitle } from "./text.js";
import { gettext, ngettext } from "./texts.js";

const dialog = /** @type {HTMLDialogElement | null} */ (find("#add-dialog"));
const form = () => /** @type {HTMLFormElement | null} */ (find("#add"));
const chooser = () => /** @type {HTMLInputElement | null} */ (find("#files"));
const what = () => /** @type {HTMLTextAreaElement} */ (need("#what"));
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
 * Return the dropped file, or the files of a dropped folder but for hidden ones.
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
    const visible = entries.filter(({ name }) => !name.startsWith("."));
    for (const inner of visible) files.push(...await filesOf(inner));
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
function addAddresses(text) {
  open(() => {
    what().value = text;
    begin();
  });
}

/**
 * Offer a text, with a title: Enter adds it. What is written in the box already stays.
 * @param {string} text
 */
function offerText(text) {
  open(() => {
    if (what().value.trim()) return;
    what().value = text;
    what().setSelectionRange(0, 0);
    offerTitle(text);
  });
}

/** @param {string} text */
function offerTitle(text) {
  const title = field("[name=title]", form() ?? undefined);
  title.value ||= proposedTitle(text);
  title.closest("details")?.setAttribute("open", "");
}

// Dropping: anywhere on the page.

const hasFiles = (/** @type {DragEvent} */ event) =>
  mayAdd() && Boolean(event.dataTransfer?.types.includes("Files"));

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

// Pasting, in the box or where nothing is being written: files and addresses begin at once, and a
// text is offered.

/** @param {ClipboardEvent} event */
function isForUs(event) {
  const other = openDialog();
  const isTaken = isTyping(event) && !around(event, "#what");
  return mayAdd() && !isTaken && (!other || other === dialog);
}

/**
 * Take a pasted text, unless it is left to the box that it is pasted into.
 * @param {string} text
 * @param {boolean} isInBox
 */
function takeText(text, isInBox) {
  const isWritten = isInBox && Boolean(what().value.trim());
  if (isAddresses(text) && !isWritten) addAddresses(text);
  else if (!isInBox && isText(text)) offerText(text);
  else {
    if (isText(text)) offerTitle(text);
    return false;
  }
  return true;
}

document.addEventListener("paste", (event) => {
  if (!isForUs(event)) return;
  const files = [...(event.clipboardData?.files ?? [])];
  const text = event.clipboardData?.getData("text/plain").trim() ?? "";
  if (files.length) addFiles(files);
  else if (!takeText(text, Boolean(around(event, "#what")))) return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (around(event, "a[data-add]"));
  if (!link || !dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { searchParams } = new URL(link.href);
  const [into, address] = ["collection", "url"].map((name) => searchParams.get(name));
  open(() => {
    if (link.dataset.add === "folder") folderChooser()?.click();
    const choice = /** @type {HTMLSelectElement | null} */ (find("#into"));
    if (choice && into) choice.value = into;
    if (address) what().value ||= address;
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
