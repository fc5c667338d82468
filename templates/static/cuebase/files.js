// Files for the library: chosen, or dropped with whole folders; their upload's progress.

import { announce, find, need, onHtmx } from "./dom.js";
import { libraryChanged } from "./swaps.js";
import { counted, fileNames } from "./text.js";

const chooser = /** @type {HTMLInputElement | null} */ (find("#files"));

function showNames() {
  const names = [...(chooser?.files ?? [])].map((file) => file.name);
  need("[data-file-names]").textContent = fileNames(names) || "Choose files, or drop them here";
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

/**
 * Take dropped files into the chooser.
 * @param {HTMLInputElement} input
 * @param {HTMLElement} zone
 */
function acceptDrops(input, zone) {
  const hasFiles = (/** @type {DragEvent} */ event) =>
    Boolean(event.dataTransfer?.types.includes("Files"));
  const mark = (/** @type {DragEvent} */ event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.classList.add("dropping");
  };
  document.addEventListener("dragenter", mark);
  document.addEventListener("dragover", mark);
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.classList.remove("dropping");
  });
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer || !hasFiles(event)) return;
    event.preventDefault();
    zone.classList.remove("dropping");
    const files = await droppedFiles(event.dataTransfer);
    const transfer = new DataTransfer();
    for (const file of files) transfer.items.add(file);
    input.files = transfer.files;
    showNames();
    need(".add-submit").focus();
    announce(`${counted(files.length, "file")} chosen. Press Add.`);
  });
}

/**
 * Show an upload's progress, and empty the form behind it.
 * @param {HTMLFormElement} form
 */
function watchUpload(form) {
  const bar = /** @type {HTMLProgressElement} */ (need(".upload-progress"));
  onHtmx("xhr:progress", ({ detail }) => {
    if (!detail.lengthComputable || !chooser?.files?.length) return;
    bar.hidden = false;
    bar.value = (100 * detail.loaded) / detail.total;
  }, form);
  onHtmx("afterRequest", ({ target, detail }) => {
    bar.hidden = true;
    if (target !== form || !detail.successful) return;
    form.reset();
    showNames();
    if (find("#added [data-arrived]")) libraryChanged();
  }, form);
}

const zone = find("[data-dropzone]");
if (chooser && zone) {
  chooser.addEventListener("change", showNames);
  acceptDrops(chooser, zone);
}
const form = /** @type {HTMLFormElement | null} */ (find("#add"));
if (form) watchUpload(form);
