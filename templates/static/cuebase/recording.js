// The reader of a recording: times seek the player and mark their line; find steps through it.

import { all, announce, around, copy, field, find, isPlainClick, need, onHtmx } from "./dom.js";
import { controlPlayer, showSpeed } from "./player.js";
import { jumped, keepPlace, keepScrolledPlace } from "./reading-place.js";
import { clock, isOtherLength } from "./text.js";
import {
  bringIntoView, bringPlaceIntoView, cueAt, follow, lineInView, mark, selectedTimes, sentenceStart,
  showClip, showOnStrip, timeOnStrip,
} from "./transcript-view.js";
import { gettext } from "./texts.js";

const page = need("[data-video]");
const box = find("#player");
const near = /** @type {HTMLInputElement | null} */ (find("[data-near]"));
const player = box && controlPlayer(box, (ms) => {
  setPosition(ms);
  keepPlace(ms);
  follow(ms);
});
if (box instanceof HTMLMediaElement) compareLengths(box);
let position = Number(find("#transcript")?.dataset.at ?? 0); // ms
if (near) near.disabled = false;

/**
 * Warn if a file cannot be that of the transcript: it ends too early, or far too late.
 * @param {HTMLMediaElement} media
 */
function compareLengths(media) {
  const warning = find("[data-other-length]");
  const expected = Number(find("[data-duration]")?.dataset.duration ?? 0);
  const compare = () => {
    const length = media.duration * 1000;
    if (!warning || !expected || !isOtherLength(length, expected)) return;
    need("[data-length]", warning).textContent = clock(length);
    warning.hidden = false;
  };
  if (media.readyState) compare();
  else media.addEventListener("loadedmetadata", compare, { once: true });
}

/** @param {number} ms */
function setPosition(ms) {
  position = ms;
  if (near) near.value = String(Math.round(ms));
  showOnStrip(ms);
  showClip(ms);
  keepInLinks(ms);
  for (const label of all("[data-now]")) label.textContent = clock(ms);
  const text = find("[data-play-label]")?.firstChild;
  if (text && !player?.isClip()) text.textContent = ms
    ? gettext("Play from {time}", { time: clock(ms) })
    : gettext("Play");
}

/**
 * Let the links to other views, and to what one speaker says, lead to a time.
 * @param {number} ms
 */
function keepInLinks(ms) {
  const links = /** @type {HTMLAnchorElement[]} */ (all("#views a, #speakers a"));
  for (const link of links) {
    const address = new URL(link.href);
    address.searchParams.set("t", `${Math.floor(ms / 1000)}s`);
    link.href = address.href;
  }
}

/** @param {number} ms */
function addressAt(ms) {
  const address = new URL(location.href);
  for (const name of ["n", "from", "to", "until", "chunk", "view", "turn"]) {
    address.searchParams.delete(name);
  }
  address.searchParams.set("t", `${Math.floor(ms / 1000)}s`);
  return address.href;
}

/**
 * Play from a time, and go there.
 * @param {number} ms
 * @param {string} [link]
 */
function seek(ms, link) {
  player?.seek(ms);
  goTo(ms, link);
}

/**
 * Go to a time: the address and the transcript. Without a link to it, as with the buttons of the
 * player, the view of chapters stays.
 * @param {number} ms
 * @param {string} [link]
 */
async function goTo(ms, link) {
  const address = link ?? addressAt(ms);
  setPosition(ms);
  keepPlace(ms);
  history.replaceState(history.state, "", address);
  if (!cueAt(ms) && (link || !find(".chapter-list"))) {
    const parts = { select: "#transcript", selectOOB: "#views" };
    const swap = { target: "#transcript", swap: "outerHTML show:none", ...parts };
    await htmx.ajax("GET", address, swap);
  }
  const cue = cueAt(ms);
  if (cue) {
    mark(cue);
    bringIntoView(cue);
  }
  announce(gettext("At {time}", { time: clock(ms) }));
}

/** Return the permanent address of the current position. */
function currentAddress() {
  const address = new URL(page.dataset.address ?? "", location.href);
  address.searchParams.set("t", `${Math.floor(position / 1000)}s`);
  if (page.dataset.lang) address.searchParams.set("lang", page.dataset.lang);
  return address.href;
}

// Find: the server sends the transcript at a match

/** @type {string | null} the step that was taken, to take it again */
let step = null;

onHtmx("beforeRequest", ({ detail }) => {
  if (detail.target?.id !== "found") return;
  const link = /** @type {HTMLElement} */ (detail.elt);
  step = link.dataset.find ?? (link.matches("[data-item-link]") ? "item" : null);
});

onHtmx("afterSettle", ({ detail }) => {
  if (detail.target?.id !== "found") return;
  const ms = Number(find("#transcript")?.dataset.at ?? 0);
  if (field("#q").value) find("#beside-matches")?.setAttribute("open", "");
  bringPlaceIntoView();
  setPosition(ms);
  jumped();
  if (!step) return;
  player?.show(ms);
  const again = step === "item" ? '.hit [aria-current]' : `[data-find="${step}"]`;
  if (document.activeElement !== find("#q")) {
    (find(again) ?? find("[data-find]"))?.focus({ preventScroll: true });
  }
  const count = find("#found .count")?.textContent?.trim() ?? "";
  announce(gettext("{count}, at {time}", { count, time: clock(ms) }));
});

// Enter goes on from match to match, and Shift+Enter back, once the matches are those of the words.

find("#q")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  const steps = /** @type {HTMLAnchorElement[]} */ (all("#found [data-find]"));
  const words = field("#q").value.trim();
  if (steps.every((link) => new URL(link.href).searchParams.get("q") !== words)) return;
  event.preventDefault();
  const link = steps.find(({ dataset }) => dataset.find === (event.shiftKey ? "previous" : "next"));
  if (!link) return;
  // Not a click: links that came this moment are not HTMX's yet, and would load a page.
  htmx.ajax("GET", link.getAttribute("hx-get") ?? "", { source: link, target: "#found" });
});

// An earlier part is read from its end, which is right above the lines that were there

onHtmx("afterSettle", ({ detail }) => {
  if (!detail.pathInfo?.requestPath.includes("only=previous")) return;
  const last = all(".cue", need(".chunk")).at(-1);
  last?.scrollIntoView({ block: "center", behavior: "instant" });
  (last?.querySelector("a") ?? last?.closest(".paragraph")?.querySelector("a"))
    ?.focus({ preventScroll: true });
});

// Above the words, the title is told while the heading is out of sight.

const heading = find(".video-head h1");
if (heading) {
  new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
    const isAbove = !isIntersecting && boundingClientRect.top < innerHeight / 2;
    find(".reader-bar")?.classList.toggle("reader-bar-titled", isAbove);
  }, { rootMargin: "-56px 0px 0px" }).observe(heading);
}

// In one column, what is about the words stands above them, folded.

const about = find("#about");
if (about) {
  if (matchMedia("(max-width: 60rem)").matches) {
    for (const part of all("details", about)) part.removeAttribute("open");
  }
  about.dataset.folded = "";
}

// Clicks

/** @param {MouseEvent} event */
function playerClicked(event) {
  const skip = around(event, "[data-skip]");
  const strip = around(event, "#strip");
  if (box && around(event, "[data-play]")) {
    event.preventDefault();
    player?.play(position);
  } else if (around(event, "[data-play-or-pause]")) {
    player?.toggle(position);
  } else if (skip) {
    const ms = Math.max(0, position + 1000 * Number(skip.dataset.skip));
    player?.skip(ms); // a key is soon pressed: it loads no player
    goTo(ms);
  } else if (strip) {
    seek(timeOnStrip(event, strip));
  } else if (around(event, "[data-repeat]")) {
    seek(sentenceStart(position));
  } else {
    return false;
  }
  return true;
}

document.addEventListener("click", (event) => {
  if (!isPlainClick(event) || playerClicked(event)) return;
  const link = /** @type {HTMLAnchorElement | null} */ (around(event, "[data-seek]"));
  const copier = around(event, "[data-copy-link]");
  if (link) {
    event.preventDefault();
    seek(Number(link.dataset.seek), link.href);
  } else if (copier) {
    copy(currentAddress(), copier);
  }
});

document.addEventListener("selectionchange", () => {
  const times = find("[data-clip-from]") && selectedTimes();
  if (times) showClip(...times);
});

document.addEventListener("change", (event) => {
  const speed = /** @type {HTMLSelectElement | null} */ (around(event, "[data-speed]"));
  if (speed) player?.setSpeed(Number(speed.value));
});

keepScrolledPlace(lineInView);
showSpeed();
bringPlaceIntoView();
