// Ask: an answer arrives claim by claim; a citation is looked at beside it, in a card or in the panel; a clip plays from its start to its end.
(() => {
  const UNDER_THE_HEAD = 80; // pixels, as scroll-margin-top of an answer
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const narrow = matchMedia("(max-width: 72rem)");
  const page = find("[data-ask]");
  if (!page) return;

  const answers = find("[data-answers]");
  const form = find("[data-ask-form]");
  const box = find("[data-question]");
  const button = find("[data-ask-button]");
  const told = find("[data-told]");
  const how = () => (calm.matches ? "instant" : "smooth");

  // Where there is no room for three panels, what can be asked stands above the conversation, folded.

  const fold = () => { for (const panel of all("[data-panel]")) panel.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);

  // The sources that are asked

  function showChosen() {
    const chosen = all("[data-choice] input:checked").length;
    const total = find("#ask-sources").dataset.total;
    const said = find("[data-chosen]");
    said.textContent = chosen ? `${chosen} of ${total}` : `all ${total}`;
    const none = find("[data-none]");
    if (none) none.hidden = !chosen;
  }

  function narrowSources(words) {
    const wanted = words.toLowerCase().split(/\s+/);
    for (const row of all("[data-choice] li")) row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
  }

  page.addEventListener("change", (event) => { if (event.target.closest("[data-choice]")) showChosen(); });
  page.addEventListener("input", (event) => { if (event.target.matches("[data-narrow]")) narrowSources(event.target.value); });
  document.addEventListener("htmx:afterSettle", showChosen);
  showChosen();

  // Asking

  let isAsking = false;
  let isNew = false; // the page was opened for another conversation, or for none

  function setAsking(is) {
    isAsking = is;
    if (button) button.disabled = is;
  }

  const tell = (text) => told.append(Object.assign(document.createElement("p"), { textContent: text }));

  // Events of a stream that a POST answers with; EventSource can only GET.
  async function* eventsOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const whole = rest.split("\n\n");
      rest = whole.pop();
      for (const one of whole) {
        const lines = one.split("\n");
        const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
        if (name) yield { name, data: lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n") };
      }
    }
  }

  function parsed(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html.trim();
    return holder.content.firstElementChild;
  }

  function isAtEnd() {
    return document.documentElement.scrollHeight - scrollY - innerHeight < 160;
  }

  const take = {
    begun(address) {
      if (!form || form.getAttribute("action") === address) return;
      form.action = address;
      history.replaceState(history.state, "", address);
      isNew = true;
    },
    stage(text, article) { find("[data-stage-text]", article).textContent = text; },
    claim(html, article) {
      const follows = isAtEnd();
      const piece = parsed(html);
      const claim = find(".claim", piece);
      find("[data-claims]", article).append(claim);
      const list = find("[data-cited]", article);
      const quotes = all("li", piece);
      list.append(...quotes);
      list.hidden = !list.children.length;
      tell(claim.textContent.replaceAll(/\[\d+\]/g, ""));
      // What arrives is followed as long as its question stays in sight: a long answer is read from its beginning.
      if (follows) scrollTo({ top: Math.min(document.documentElement.scrollHeight, scrollY + article.getBoundingClientRect().top - UNDER_THE_HEAD), behavior: how() });
    },
    answer(html, article) {
      const whole = parsed(html);
      const hadFocus = article.contains(document.activeElement);
      article.replaceWith(whole);
      htmx.process(whole);
      const count = all(".answer-cited > li", whole).length;
      const refused = find(".refusal-note", whole);
      tell(refused ? refused.textContent.trim() : `The answer is complete: ${count} citation${count === 1 ? "" : "s"}.`);
      if (hadFocus) find("a, button", whole)?.focus({ preventScroll: true });
      return true;
    },
    failed(html, article) {
      find("[data-stage]", article)?.remove();
      const notice = parsed(html);
      article.append(notice);
      tell(notice.textContent.trim());
      return true;
    },
  };

  const UNHEARD = '<div class="notice notice-error"><p>The server does not answer. Check that it runs, then load this page again.</p></div>';

  async function follow(address, body, article) {
    setAsking(true);
    told.replaceChildren();
    let isOver = false;
    try {
      const response = await fetch(address, { method: "POST", body, headers: { Accept: "text/event-stream" } });
      if (!response.ok) {
        const text = await response.text();
        isOver = take.failed(response.status < 500 && text.includes("notice-error") && !text.includes("<html") ? text : UNHEARD, article);
        return false;
      }
      for await (const { name, data } of eventsOf(response)) {
        isOver = take[name]?.(data, article) || isOver;
        if (isOver) break; // the next question can be asked at once
      }
      return true;
    } catch {
      return false;
    } finally {
      if (!isOver) take.failed(UNHEARD, article);
      setAsking(false);
      renew();
    }
  }

  // A conversation that has just begun has a title, its place in the list, and its own sources.
  async function renew() {
    if (!isNew) return;
    isNew = false;
    const answer = await fetch(form.getAttribute("action"));
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = fresh.title;
    box.placeholder = find("[data-question]", fresh).placeholder;
    box.labels[0].textContent = box.placeholder;
    for (const id of ["ask-head", "ask-history", "ask-sources"]) {
      const [old, part] = [document.getElementById(id), fresh.getElementById(id)];
      if (!old || !part || old.contains(document.activeElement)) continue;
      old.replaceWith(part);
      htmx.process(part);
    }
    showChosen();
  }

  function begin(question) {
    find("[data-empty]")?.remove();
    const article = find("#asking").content.firstElementChild.cloneNode(true);
    find("[data-text]", article).textContent = question;
    return article;
  }

  form?.addEventListener("submit", async (event) => {
    if (event.submitter?.formMethod === "get") return;
    event.preventDefault();
    const question = box.value.trim();
    if (isAsking || !question) return;
    const body = new FormData(form);
    const article = begin(question);
    answers.append(article);
    box.value = "";
    article.scrollIntoView({ block: "start", behavior: how() });
    tell("Asked");
    if (!await follow(form.getAttribute("action"), body, article) && !box.value) box.value = question;
  });

  document.addEventListener("submit", (event) => {
    const again = event.target.closest("[data-again]");
    if (!again) return;
    event.preventDefault();
    if (isAsking) return;
    const old = again.closest(".answer");
    const article = begin(find(".question", old).textContent);
    old.replaceWith(article);
    article.scrollIntoView({ block: "nearest", behavior: how() });
    follow(again.action, new FormData(again), article);
  });

  // An example is put into the box, to be changed or asked.
  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-example]");
    if (example && box) { box.value = example.textContent.trim(); box.focus(); }
    if (event.target.closest("[data-none]")) {
      for (const one of all("[data-choice] input:checked")) one.checked = false;
      showChosen();
    }
  });

  // The chosen citation

  const panel = find("[data-details-panel]");
  const nothing = panel.innerHTML;
  let openedBy = null;

  function markCurrent(address) {
    for (const one of all("[data-details]")) {
      if (one.dataset.details === address) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
  }

  async function open(link) {
    hideCard();
    openedBy = link;
    await htmx.ajax("GET", link.dataset.details, { target: panel, swap: "innerHTML" });
    if (!find("[data-details-of]", panel)) return;
    markCurrent(link.dataset.details);
    panel.dataset.shown = "";
    panel.scrollTop = 0;
    find("[data-details-title]", panel).focus({ preventScroll: true });
  }

  function close() {
    if (!("shown" in panel.dataset)) return false;
    delete panel.dataset.shown;
    panel.innerHTML = nothing;
    markCurrent("");
    if (openedBy?.isConnected) openedBy.focus();
    return true;
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
    const link = event.target.closest("[data-details]");
    if (link) { event.preventDefault(); open(link); return; }
    if (event.target.closest("[data-close-details]")) { close(); return; }
    const play = event.target.closest("[data-play-clip]");
    if (play) { event.preventDefault(); playClip(play.closest("[data-clip]")); }
  });

  // From its start to its end, and not further

  function playClip(clip) {
    const frame = document.createElement("iframe");
    const wanted = { autoplay: 1, playsinline: 1, rel: 0, start: clip.dataset.start, end: clip.dataset.end };
    frame.title = `YouTube: ${clip.dataset.title}`;
    frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
    frame.allowFullscreen = true;
    frame.referrerPolicy = "strict-origin-when-cross-origin";
    frame.src = `https://www.youtube-nocookie.com/embed/${clip.dataset.clip}?${new URLSearchParams(wanted)}`;
    clip.replaceChildren(frame);
    frame.focus();
  }

  // What a number stands for: shown while it, or the card itself, is under the pointer, or while it has the focus; Escape takes it away

  const card = find("[data-card-box]");
  const DELAY = 180; // ms
  let cardFor = null;
  let timer = 0;

  function hideCard() {
    clearTimeout(timer);
    cardFor = null;
    card.hidden = true;
    card.replaceChildren();
  }

  function put(ref) {
    const { left, top, bottom } = ref.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: high } = card;
    card.style.left = `${Math.max(8, Math.min(left - 16, innerWidth - wide - 8))}px`;
    card.style.top = `${bottom + 8 + high > innerHeight - 8 ? Math.max(8, top - high - 8) : bottom + 8}px`;
  }

  function plan(ref) {
    if (cardFor === ref) { clearTimeout(timer); if (!card.hidden) return; }
    clearTimeout(timer);
    cardFor = ref;
    timer = setTimeout(() => {
      const entry = document.getElementById(ref.dataset.card);
      if (!entry || !ref.isConnected) return;
      const inner = entry.cloneNode(true);
      card.replaceChildren(...inner.children);
      find("a", card)?.setAttribute("tabindex", "-1");
      card.hidden = false;
      put(ref);
    }, DELAY);
  }

  function planHide() {
    clearTimeout(timer);
    timer = setTimeout(hideCard, DELAY);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const ref = event.target.closest?.("[data-card]");
    if (ref) plan(ref);
    else if (event.target.closest?.("[data-card-box]")) clearTimeout(timer);
    else if (cardFor && cardFor !== document.activeElement) planHide();
  });
  document.addEventListener("focusin", (event) => {
    const ref = event.target.closest("[data-card]");
    if (ref?.matches(":focus-visible")) plan(ref);
    else if (cardFor) hideCard();
  });
  document.addEventListener("scroll", () => { if (!card.hidden && cardFor) put(cardFor); }, { capture: true, passive: true });

  // Keys

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || find("dialog[open]")) return;
    if (!card.hidden) { hideCard(); event.stopImmediatePropagation(); return; }
    if (!find("details.menu[open]") && close()) event.stopImmediatePropagation();
  }, true);

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || !box || event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) return;
    if (event.target.closest("input, textarea, select") || !(find("#single-keys")?.checked ?? true)) return;
    event.preventDefault();
    box.focus();
  });

  // A conversation is read from its last answer.
  if (!location.hash) answers.lastElementChild?.scrollIntoView({ block: "start", behavior: "instant" });
})();
