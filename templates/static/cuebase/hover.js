// The card that shows what a reference stands for, to the pointer and to the keyboard.

import { around, openDialog, show } from "./dom.js";
import { below, beside } from "./text.js";

const DELAY = 200; // ms

/**
 * Show a card for every reference that is under the pointer or has the focus.
 * @param {HTMLElement} card
 * @param {string} selector of the references
 * @param {(reference: HTMLElement) => Node[]} content of a card; none: no card
 * @param {{isBesidePointer?: boolean}} options
 */
export function hoverCard(card, selector, content, { isBesidePointer = false } = {}) {
  /** @type {HTMLElement | null} */
  let reference = null;
  /** @type {{x: number, y: number} | null} */
  let pointer = null;
  let timer = 0;

  function hide() {
    clearTimeout(timer);
    reference = pointer = null;
    show(card, false);
    card.replaceChildren();
  }

  function place() {
    if (!reference) return;
    const size = { width: card.offsetWidth, height: card.offsetHeight };
    const view = { width: innerWidth, height: innerHeight };
    const spot = pointer && isBesidePointer
      ? beside(pointer, size, view)
      : below(reference.getBoundingClientRect(), size, view);
    card.style.left = `${spot.left}px`;
    card.style.top = `${spot.top}px`;
  }

  /** @param {HTMLElement} next */
  function plan(next) {
    clearTimeout(timer);
    if (reference === next && !card.hidden) return;
    reference = next;
    timer = setTimeout(() => {
      const parts = next.isConnected ? content(next) : [];
      if (!parts.length) return;
      card.replaceChildren(...parts);
      show(card);
      place();
    }, DELAY);
  }

  function planHide() {
    clearTimeout(timer);
    timer = setTimeout(hide, DELAY);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const next = around(event, selector);
    if (next) plan(next);
    else if (card.contains(/** @type {Node} */ (event.target))) clearTimeout(timer);
    else if (reference && reference !== document.activeElement) planHide();
  });
  if (isBesidePointer) {
    document.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch" || !around(event, selector)) return;
      pointer = { x: event.clientX, y: event.clientY };
      if (!card.hidden) place();
    });
  }
  document.addEventListener("focusin", (event) => {
    const next = around(event, selector);
    pointer = null;
    if (next?.matches(":focus-visible")) plan(next);
    else if (reference) hide();
  });
  document.addEventListener("focusout", (event) => { if (event.target === reference) hide(); });
  document.addEventListener("scroll", () => { if (!card.hidden) place(); }, {
    capture: true,
    passive: true,
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || card.hidden || openDialog()) return;
    hide();
    event.stopImmediatePropagation();
  }, true);

  return { hide };
}
