// Pages of documents: any link with data-page-link opens in the dialog, where there is one; keys; the mark comes into sight.
(() => {
  const find = (selector, from = document) => from.querySelector(selector);
  const dialog = find("#page-dialog");
  const body = find("#page-view-body");

  // In the dialog every way to another page stays in the dialog; on a page's own address it is a plain link.

  async function show(address) {
    await htmx.ajax("GET", address, { target: body, swap: "innerHTML" });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-page-link]");
    if (!dialog || !link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show(link.href);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-page-form]");
    if (!dialog || !form) return;
    event.preventDefault();
    show(`${form.action}?${new URLSearchParams(new FormData(form))}`);
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    if (!dialog || event.detail.target !== body) return;
    const wasOpen = dialog.open;
    if (!wasOpen) dialog.showModal();
    if (wasOpen) find("[data-page-status]", dialog).textContent = find("[data-page-said]", body).dataset.pageSaid;
    // Not by "autofocus": htmx heeds that a moment later, and takes the focus from whoever has begun to type a search by then.
    if (!wasOpen || !body.contains(document.activeElement)) find("#page-frame", body).focus({ preventScroll: true });
    body.scrollTop = 0;
    bringIntoSight();
  });

  // What went wrong is said outside the dialog.
  for (const kind of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(kind, (event) => { if (event.detail.target === body) dialog?.close(); });
  }

  dialog?.addEventListener("close", () => { body.replaceChildren(); });

  // The mark, in the middle of the frame: the quote, or the first of the words once somebody searches

  function bringIntoSight() {
    const frame = find("#page-frame");
    const kinds = [".sheet-quote", "mark.quoted", ".sheet-word", "mark:not(.quoted)"];
    if (find("#page-found")) kinds.reverse();
    const marks = kinds.map((kind) => frame ? [...frame.querySelectorAll(kind)] : []).find((found) => found.length);
    if (!marks) return;
    const [box, around] = [marks[0].getBoundingClientRect(), frame.getBoundingClientRect()];
    // A quote begins in the middle of a line and goes on at the left: all its lines count for where it is from side to side.
    const sides = (find("#page-found") ? [marks[0]] : marks).map((mark) => mark.getBoundingClientRect());
    const [left, right] = [Math.min(...sides.map((side) => side.left)), Math.max(...sides.map((side) => side.right))];
    frame.scrollBy({
      left: left - around.left - Math.max(16, (frame.clientWidth - (right - left)) / 2),
      top: box.top - around.top - frame.clientHeight / 3,
      behavior: "instant",
    });
  }

  bringIntoSight();

  // Keys

  const KEYS = { ArrowLeft: "previous", ArrowRight: "next", p: "previous", n: "next", "+": "larger", "=": "larger", "-": "smaller" };
  const singleKeys = () => find("#single-keys")?.checked ?? true;

  function isElsewhere(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest("input, textarea, select")) return true;
    const open = find("dialog[open]");
    return open ? open !== dialog : !find("main [data-page-view]");
  }

  // A page that is wider than its frame is moved by the arrows, not turned.
  const isMoved = (event) => event.key.startsWith("Arrow") && event.target.id === "page-frame" && event.target.scrollWidth > event.target.clientWidth + 1;

  document.addEventListener("keydown", (event) => {
    if (isElsewhere(event) || isMoved(event) || (event.key.length === 1 && !singleKeys())) return;
    if (event.key === "/" && dialog?.open) {
      find("[data-page-search]").focus();
      event.preventDefault();
      return;
    }
    const link = find(`[data-page-view] [data-page-key="${KEYS[event.key]}"]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
