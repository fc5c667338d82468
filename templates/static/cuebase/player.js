// The player loads only when it is asked for; times in the page seek it and mark the line.
(() => {
  const HOST = "https://www.youtube-nocookie.com";
  const page = document.querySelector("[data-video]");
  if (!page) return;
  const player = document.querySelector("#player");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let frame = null;
  // An address with "until" names a clip: it plays from its first word to its last, once.
  let clip = player?.dataset.until ? { from: Number(player.dataset.from ?? 0), until: Number(player.dataset.until) } : null;
  let pausing = 0;
  let now = clip ? clip.from : Number(document.querySelector(".cue.at")?.dataset.ms ?? 0);

  const clock = (ms) => {
    const seconds = Math.floor(ms / 1000);
    const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const two = (number) => String(number).padStart(2, "0");
    return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
  };

  const tell = (message) => frame?.contentWindow.postMessage(JSON.stringify(message), HOST);
  const command = (name, ...args) => tell({ event: "command", func: name, args });

  function play() {
    const start = Math.floor(now / 1000);
    frame = document.createElement("iframe");
    frame.title = `YouTube: ${player.dataset.title}`;
    frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
    frame.allowFullscreen = true;
    frame.referrerPolicy = "strict-origin-when-cross-origin";
    frame.src = `${HOST}/embed/${player.dataset.youtube}?${new URLSearchParams({ autoplay: 1, enablejsapi: 1, playsinline: 1, rel: 0, start, origin: location.origin })}`;
    frame.addEventListener("load", () => tell({ event: "listening", id: 1 }));
    player.replaceChildren(frame);
    frame.focus();
  }

  function mark(cue) {
    for (const old of document.querySelectorAll(".cue.at")) old.classList.remove("at");
    cue?.classList.add("at");
  }

  function cueAt(ms) {
    const chunk = [...document.querySelectorAll(".chunk")].find((one) => Number(one.dataset.start) <= ms && ms <= Number(one.dataset.end));
    return chunk && [...chunk.querySelectorAll(".cue")].filter((cue) => Number(cue.dataset.ms) <= ms).at(-1);
  }

  function show(cue) {
    mark(cue);
    cue.scrollIntoView({ block: "center", behavior: calm.matches ? "auto" : "smooth" });
  }

  function setNow(ms) {
    now = ms;
    for (const place of document.querySelectorAll("[data-now]")) place.textContent = clock(ms);
    const label = document.querySelector("[data-play-label]");
    if (label?.firstChild && !clip) label.firstChild.textContent = ms ? `Play from ${clock(ms)}` : "Play";
  }

  function leaveClip() {
    clip = null;
    clearTimeout(pausing);
  }

  // The player says where it is a few times a second: the rest of the way is waited for.
  function stopInTime(ms, state) {
    clearTimeout(pausing);
    if (!clip || state === 2) return;
    if (!clip.begun) { clip.begun = true; if (ms < clip.from - 50) command("seekTo", clip.from / 1000, true); return; }
    if (ms > clip.until + 2000) { leaveClip(); return; }
    const left = clip.until - ms;
    if (left <= 0) { leaveClip(); command("pauseVideo"); return; }
    if (left < 2000) pausing = setTimeout(() => { leaveClip(); command("pauseVideo"); }, left);
  }

  async function seek(ms, href) {
    leaveClip();
    setNow(ms);
    if (frame) { command("seekTo", ms / 1000, true); command("playVideo"); }
    history.replaceState(history.state, "", href);
    if (!cueAt(ms)) {
      await htmx.ajax("GET", href, { target: "#transcript", select: "#transcript", swap: "outerHTML show:none" });
    }
    const cue = cueAt(ms);
    if (cue) show(cue);
    cuebase.announce(`At ${clock(ms)}`);
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (event.target.closest("[data-play]")) { event.preventDefault(); play(); return; }
    const link = event.target.closest("[data-seek]");
    if (link) { event.preventDefault(); seek(Number(link.dataset.seek), link.href); return; }
    const copier = event.target.closest("[data-copy-link]");
    if (copier) {
      const address = new URL(page.dataset.address, location.href);
      address.searchParams.set("t", `${Math.floor(now / 1000)}s`);
      if (page.dataset.lang) address.searchParams.set("lang", page.dataset.lang);
      cuebase.copy(address.href, copier);
    }
  });

  // While it plays, the player says where it is.
  window.addEventListener("message", (event) => {
    if (event.origin !== HOST || event.source !== frame?.contentWindow || typeof event.data !== "string") return;
    let said;
    try { said = JSON.parse(event.data); } catch { return; }
    const seconds = said?.info?.currentTime;
    if (typeof seconds !== "number") return;
    setNow(seconds * 1000);
    stopInTime(seconds * 1000, said.info.playerState);
    const cue = cueAt(now);
    if (cue && !cue.classList.contains("at")) mark(cue);
  });

  const at = document.querySelector(".cue.at");
  if (at) at.scrollIntoView({ block: "center" });
})();
