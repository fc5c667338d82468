// A live lecture: what is said arrives, citations land beside it, and a stored talk is replayed, speech recognised, a page looked at.
(() => {
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const clock = (ms) => {
    const seconds = Math.floor(ms / 1000);
    const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const two = (number) => String(number).padStart(2, "0");
    return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
  };

  const show = (part, is = true) => { if (part) part.hidden = !is; };

  // A new lecture: the list of sources follows the collection and the words

  const narrow = find("[data-narrow-sources]");
  if (narrow) {
    const shelf = find("[data-narrows]");
    const apply = () => {
      const words = narrow.value.toLowerCase().split(/\s+/);
      for (const row of all(".source-choice li")) {
        const fits = row.dataset.shelf === shelf.value;
        if (!fits) find("input", row).checked = false;
        show(row, fits && words.every((word) => row.textContent.toLowerCase().includes(word)));
      }
    };
    narrow.addEventListener("input", apply);
    shelf.addEventListener("change", apply);
    apply();
  }

  const page = find("[data-lecture]");
  if (!page) return;

  // The transcript

  const box = find("#spoken");
  const lines = find("[data-lines]", box);
  const toNow = find("[data-to-now]");
  let follows = true;

  const isAtEnd = () => box.scrollHeight - box.scrollTop - box.clientHeight < 60;

  function toEnd() {
    box.scrollTop = box.scrollHeight;
    follows = true;
    show(toNow, false);
  }

  box.addEventListener("scroll", () => { follows = isAtEnd(); if (follows) show(toNow, false); }, { passive: true });
  toNow.addEventListener("click", toEnd);

  function grown() {
    if (follows) toEnd();
    else show(toNow);
  }

  const lineOf = (number) => document.getElementById(`segment-${number}`);

  // Pieces of speech may come late: each goes to its place by its number.
  function addLine({ number, text, start }) {
    let line = lineOf(number);
    if (!line) {
      line = find("#line").content.firstElementChild.cloneNode(true);
      line.id = `segment-${number}`;
      line.dataset.number = number;
      const next = [...lines.children].reverse().find((one) => Number(one.dataset.number) < number);
      if (next) next.after(line);
      else lines.prepend(line);
    }
    if (start !== null) {
      line.dataset.start = start * 1000;
      find("[data-time]", line).textContent = clock(start * 1000);
    }
    find("[data-text]", line).textContent = text;
    show(find("[data-silent]"), false);
    begun();
    grown();
  }

  function begun() {
    const state = find("[data-state]");
    if (!("notBegun" in state.dataset)) return;
    delete state.dataset.notBegun;
    state.textContent = "Open";
  }

  // The citations

  const panel = find("#citations");
  const groups = find("[data-groups]", panel);
  const filter = find("[data-filter]");
  const badge = find("[data-count]");
  const finding = find("[data-finding]");
  const heard = find("[data-heard]");
  const SLOW = 2000; // ms; sooner than that nobody has to be told that something is looked for
  const FEW = 3; // windows without a citation before it is said that there are none
  const waiting = new Map();
  let count = Number(badge.textContent);
  let looked = Number(page.dataset.looked);

  const addressOf = (index) => page.dataset.window.replace(/0\/$/, `${index}/`);

  function waitFor(index) {
    if (waiting.has(index)) return;
    waiting.set(index, setTimeout(() => { waiting.set(index, null); showFinding(); }, SLOW));
  }

  function showFinding() {
    show(finding, [...waiting.values()].includes(null));
  }

  function arrived(index) {
    clearTimeout(waiting.get(index));
    waiting.delete(index);
    showFinding();
  }

  function place(group) {
    const index = Number(group.dataset.cited);
    const older = all("[data-cited]", groups).find((one) => Number(one.dataset.cited) < index);
    if (older) older.before(group);
    else if (find("#older", groups)) find("#older", groups).before(group);
    else groups.append(group);
  }

  // Fetch a window's cards and its numbers in the transcript.
  async function bring(index) {
    if (document.getElementById(`window-${index}`)) return;
    const answer = await fetch(addressOf(index), { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
    const group = find("[data-cited]", parsed);
    if (!group || document.getElementById(`window-${index}`)) return;
    place(group);
    htmx.process(group);
    const refs = find("template[data-refs-of]", parsed);
    const line = refs && lineOf(refs.dataset.refsOf);
    if (line && !document.getElementById(`refs-${index}`)) find(".said-text", line).append(refs.content);
    narrowCitations();
    if (follows) toEnd();
  }

  // Those who listen with a screen reader are told now and then, not at every window.
  let news = [];
  let telling = 0;

  function tell(citations) {
    news.push(...citations);
    telling ||= setTimeout(() => {
      const first = news[0];
      const where = first.page_number ? `, page ${first.page_number}` : "";
      heard.textContent = `${news.length} new citation${news.length === 1 ? "" : "s"}: ${first.document_name}${where}${news.length > 1 ? ` and ${news.length - 1} more` : ""}`;
      [news, telling] = [[], 0];
    }, 1500);
  }

  // What stands between backticks is a command.
  const withCode = (text) => text.split("`").map((part, place) => (place % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part));

  async function cited({ window_index: index, outcome, citations, note }) {
    looked += 1;
    if (["cited", "failed"].includes(outcome)) {
      find("[data-note]").replaceChildren(...withCode(note));
      show(find("[data-note]"), Boolean(note));
    }
    if (citations.length && !document.getElementById(`window-${index}`)) {
      await bring(index);
      count += citations.length;
      badge.textContent = count;
      tell(citations);
    }
    arrived(index);
    show(find("[data-nothing]"), !count);
    show(find("[data-first]"), looked < FEW);
    show(find("[data-none-found]"), looked >= FEW);
  }

  function narrowCitations() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const group of all("[data-cited]", groups)) {
      const cards = all("[data-cite]", group);
      for (const card of cards) show(card, words.every((word) => card.textContent.toLowerCase().includes(word)));
      const some = cards.some((card) => !card.hidden);
      show(group, some);
      left += some;
    }
    show(find("[data-nothing-fits]"), Boolean(words.length && count && !left));
  }

  filter.addEventListener("input", narrowCitations);
  document.addEventListener("htmx:afterSettle", () => { if (filter.value) narrowCitations(); });

  // Bring a part to the middle of its frame. What arrives meanwhile may push it on, so it is looked at again when the scrolling has ended.
  function reveal(part, frame) {
    const middle = () => frame.scrollTop + part.getBoundingClientRect().top - frame.getBoundingClientRect().top - (frame.clientHeight - part.offsetHeight) / 2;
    const isAway = () => part.getBoundingClientRect().top < frame.getBoundingClientRect().top || part.getBoundingClientRect().bottom > frame.getBoundingClientRect().bottom;
    frame.addEventListener("scrollend", () => { if (isAway()) frame.scrollTo({ top: middle(), behavior: "instant" }); }, { once: true });
    frame.scrollTo({ top: middle(), behavior: calm.matches ? "instant" : "smooth" });
    const { top, bottom } = frame.getBoundingClientRect();
    if (top > innerHeight / 2 || bottom < innerHeight / 2) frame.scrollIntoView({ block: "nearest", behavior: calm.matches ? "instant" : "smooth" });
  }

  function pulse(part, name) {
    for (const one of all(`.${name}`)) one.classList.remove(name);
    void part.offsetWidth; // so that the animation begins anew
    part.classList.add(name);
  }

  async function toCard(ref) {
    const id = ref.hash.slice(1);
    if (!document.getElementById(id)) await bring(ref.dataset.ref);
    const card = document.getElementById(id);
    if (!card) return;
    if (card.hidden) { filter.value = ""; narrowCitations(); }
    pulse(card, "pulse");
    card.focus({ preventScroll: true });
    reveal(card, panel);
  }

  function toLine(link) {
    const line = document.getElementById(link.hash.slice(1));
    if (!line) return;
    follows = false;
    pulse(line, "at");
    reveal(line, box);
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const ref = event.target.closest("[data-ref]");
    const back = event.target.closest("[data-to-segment]");
    if (!ref && !back) return;
    event.preventDefault();
    hideTip();
    if (ref) toCard(ref);
    else toLine(back);
  });

  // What a number in the transcript stands for: shown beside the cursor, or below the number that has the focus

  const tip = find("[data-tip-box]");
  const TIP_DELAY = 200; // ms
  let tipFor = null;
  let tipTimer = 0;
  let cursor = { x: 0, y: 0 };

  function putTip(x, y) {
    const { offsetWidth: wide, offsetHeight: high } = tip;
    tip.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - wide - 8))}px`;
    tip.style.top = `${y + 18 + high > innerHeight - 8 ? y - high - 10 : y + 18}px`;
  }

  function putBelow(ref) {
    const { left, bottom } = ref.getBoundingClientRect();
    putTip(left - 12, bottom - 12);
  }

  function hideTip() {
    clearTimeout(tipTimer);
    tipFor = null;
    show(tip, false);
  }

  function planTip(ref, put) {
    if (tipFor === ref) return;
    hideTip();
    tipFor = ref;
    tipTimer = setTimeout(() => {
      tip.textContent = ref.dataset.tip;
      show(tip);
      put();
    }, TIP_DELAY);
  }

  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    cursor = { x: event.clientX, y: event.clientY };
    const ref = event.target.closest?.("[data-ref]");
    if (!ref) { if (tipFor && tipFor !== document.activeElement) hideTip(); return; }
    planTip(ref, () => putTip(cursor.x, cursor.y));
    if (!tip.hidden) putTip(cursor.x, cursor.y);
  });
  document.addEventListener("focusin", (event) => {
    const ref = event.target.closest("[data-ref]");
    if (!ref?.matches(":focus-visible")) { hideTip(); return; }
    planTip(ref, () => putBelow(ref));
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", () => { if (tipFor === document.activeElement && !tip.hidden) putBelow(tipFor); }, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !tip.hidden) { hideTip(); event.stopImmediatePropagation(); } }, true);

  // How it went

  const figures = find("[data-figures]");
  const newFigures = () => htmx.trigger("[data-figures-now]", "figures");
  figures.addEventListener("toggle", () => { if (figures.open) newFigures(); });
  find("[data-open-figures]")?.addEventListener("click", () => { figures.open = true; });

  // What happens arrives as it happens

  const told = {
    segment: addLine,
    window: ({ index }) => waitFor(index),
    citations: cited,
    ended,
  };
  let number = Number(page.dataset.after);
  let stream = null;
  let isEnded = "ended" in page.dataset;

  function listen() {
    const address = new URL(page.dataset.events, location.href);
    address.searchParams.set("after", number);
    stream = new EventSource(address);
    for (const [kind, take] of Object.entries(told)) {
      stream.addEventListener(kind, (event) => {
        if (Number(event.lastEventId) <= number) return; // after a break the stream may begin a little earlier
        number = Number(event.lastEventId);
        take(JSON.parse(event.data));
        if (isEnded && !waiting.size) stream.close();
      });
    }
  }

  function ended() {
    isEnded = true;
    pause();
    stopListening();
    for (const part of all("[data-replay], [data-player], [data-end], .hear, #paste")) part.remove();
    find("[data-state]").textContent = "Ended";
    show(find("[data-again]"));
    newFigures();
    cuebase.announce("The lecture has ended");
  }

  for (const index of page.dataset.waiting.split(",").filter(Boolean)) waitFor(Number(index));
  if (!isEnded || waiting.size) listen();
  toEnd();

  // Replaying: the page's own clock, or the player's where it plays

  const replay = find("[data-replay]");
  const TICK = 250; // ms
  const TOLD = 400; // ms between two messages to the server
  let position = Number(replay?.dataset.position ?? 0);
  let reached = position; // how far the server has been told
  let ticking = 0;
  let before = 0;
  let isTelling = false;
  function drawClock() {
    const length = Number(replay.dataset.length);
    position = Math.max(0, Math.min(position, length));
    const bar = find("[data-seek-to]", replay);
    if (document.activeElement !== bar || ticking) bar.value = position;
    bar.setAttribute("aria-valuetext", `${clock(position)} of ${clock(length)}`);
    find("[data-clock]", replay).textContent = `${clock(position)} / ${clock(length)}`;
  }

  async function advance() {
    if (isTelling || position <= reached || isEnded) return;
    isTelling = true;
    const wanted = Math.round(position);
    try {
      await htmx.ajax("POST", replay.action, { source: replay, values: { position: wanted }, swap: "none" });
      reached = wanted;
      await new Promise((resolve) => { setTimeout(resolve, TOLD); });
    } finally {
      isTelling = false;
    }
    advance();
  }

  function tick() {
    const now = performance.now();
    if (!player?.plays) position += (now - before) * Number(find("[data-speed]", replay).value);
    before = now;
    drawClock();
    advance();
    if (reached >= Number(replay.dataset.length)) pause(); // the lecture ends with its talk
  }

  function drawPlay() {
    const button = find("[data-toggle-play]", replay);
    button.classList.toggle("playing", Boolean(ticking));
    find("[data-play-text]", button).textContent = ticking ? "Pause" : position ? "Go on" : "Replay";
  }

  function play() {
    if (ticking || isEnded) return;
    before = performance.now();
    ticking = setInterval(tick, TICK);
    player?.command("playVideo");
    toEnd();
    drawPlay();
  }

  function pause() {
    if (!ticking) return;
    clearInterval(ticking);
    ticking = 0;
    player?.command("pauseVideo");
    drawPlay();
  }

  // Back: what was said stays, and is shown. Forward: what lies between is said at once.
  function seek(ms) {
    position = ms;
    player?.command("seekTo", ms / 1000, true);
    drawClock();
    advance();
    const line = all("[data-start]", lines).filter((one) => Number(one.dataset.start) <= ms).at(-1);
    if (line && ms < reached) { follows = false; pulse(line, "at"); reveal(line, box); }
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey || isEnded || find("dialog[open]")) return;
    if (event.target.closest("input, textarea, select") || !find("#single-keys").checked) return;
    if (replay) find("[data-toggle-play]", replay).click();
  });

  if (replay) {
    replay.addEventListener("submit", (event) => event.preventDefault());
    find("[data-toggle-play]", replay).addEventListener("click", () => (ticking ? pause() : play()));
    find("[data-seek-to]", replay).addEventListener("change", ({ target }) => {
      const isLast = Number(target.value) + Number(target.step) > Number(target.max); // the end lies between two steps
      seek(Number(isLast ? target.max : target.value));
    });
    drawClock();
    drawPlay();
    find("[data-toggle-play]", replay).disabled = false; // from here on it does something
  }

  const HOST = "https://www.youtube-nocookie.com";
  const screen = find("[data-player]");
  let player = null;

  function loadPlayer() {
    const frame = document.createElement("iframe");
    frame.title = `YouTube: ${screen.dataset.title}`;
    frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
    frame.referrerPolicy = "strict-origin-when-cross-origin";
    const wanted = { autoplay: 1, enablejsapi: 1, playsinline: 1, rel: 0, start: Math.floor(position / 1000), origin: location.origin };
    frame.src = `${HOST}/embed/${screen.dataset.player}?${new URLSearchParams(wanted)}`;
    const say = (message) => frame.contentWindow.postMessage(JSON.stringify(message), HOST);
    player = { frame, plays: false, command: (name, ...args) => say({ event: "command", func: name, args }) };
    frame.addEventListener("load", () => say({ event: "listening", id: 1 }));
    screen.replaceChildren(frame);
  }

  screen?.addEventListener("click", (event) => {
    if (!event.target.closest("[data-load-player]")) return;
    event.preventDefault();
    loadPlayer();
  });

  window.addEventListener("message", (event) => {
    if (!player || event.origin !== HOST || event.source !== player.frame.contentWindow || typeof event.data !== "string") return;
    let said;
    try { said = JSON.parse(event.data)?.info; } catch { return; }
    if (typeof said?.playerState === "number") {
      player.plays = said.playerState === 1;
      if (player.plays) play();
      else if (said.playerState === 2) pause();
    }
    if (typeof said?.currentTime === "number") { position = said.currentTime * 1000; drawClock(); }
  });

  // Speech, recognised by the browser where it can

  const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
  const ear = find("[data-listen]");
  const interim = find("[data-interim]");
  const sayForm = find("[data-say]");
  const said = [];
  let recogniser = null;
  let isSaying = false;

  // One after the other, so that nothing overtakes; what could not be sent is sent again with the next.
  async function saySome() {
    if (isSaying || !said.length) return;
    isSaying = true;
    const text = said.join(" ");
    const amount = said.length;
    try {
      const body = new FormData(sayForm);
      body.set("text", text);
      const answer = await fetch(sayForm.action, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (answer.ok) said.splice(0, amount);
    } catch {
      setTimeout(saySome, 2000);
    } finally {
      isSaying = false;
    }
    if (said.length) setTimeout(saySome, 500);
  }

  function stopListening() {
    const was = recogniser;
    recogniser = null;
    was?.stop();
    show(interim, false);
    ear?.classList.remove("playing");
    const text = ear && find("[data-listen-text]", ear);
    if (text) text.textContent = "Listen";
  }

  function startListening() {
    recogniser = new Recognition();
    recogniser.continuous = recogniser.interimResults = true;
    recogniser.lang = box.lang || navigator.language;
    recogniser.addEventListener("result", (event) => {
      let rest = "";
      for (const result of [...event.results].slice(event.resultIndex)) {
        if (result.isFinal) said.push(result[0].transcript.trim());
        else rest += result[0].transcript;
      }
      interim.textContent = rest;
      show(interim, Boolean(rest));
      saySome();
    });
    recogniser.addEventListener("error", (event) => {
      if (event.error === "no-speech" || event.error === "network") return;
      stopListening();
      cuebase.announce("The browser may not listen. Allow the microphone for this page, then try again.");
      find("[data-listen-note]").textContent = "The browser may not listen. Allow the microphone for this page, then try again.";
    });
    recogniser.addEventListener("end", () => { recogniser?.start(); }); // it stops by itself after a silence
    recogniser.start();
    ear.classList.add("playing");
    find("[data-listen-text]", ear).textContent = "Stop listening";
  }

  if (ear) {
    for (const part of [ear, find("[data-listen-note]")]) show(part, Boolean(Recognition));
    show(find("[data-deaf]"), !Recognition);
    ear.addEventListener("click", () => (recogniser ? stopListening() : startListening()));
  }
})();
