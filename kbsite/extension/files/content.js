// Runs beside the page of a video, in a world of its own: asks the player (player.js), notes which
// captions it has fetched, fetches the same, and moves the video. It answers to the panel alone.
{
  const LONGEST_ANSWER = 500_000; // characters
  const MOST_ADDRESSES = 50;
  const MOST_BYTES = 20 * 1024 * 1024; // as the library takes
  const PATIENCE = 15_000; // ms

  /** @type {string[]} of captions, latest last */
  const fetched = [];
  /** @type {Set<string>} what this script has fetched itself */
  const own = new Set();

  const isCaptions = (/** @type {string} */ address) => {
    const { origin, pathname } = new URL(address, location.href);
    return origin === location.origin && pathname === "/api/timedtext";
  };

  /** Tell the panel, if it is open, that the player has captions. */
  const announce = async () => {
    try { await chrome.runtime.sendMessage({ told: "captions" }); } catch { /* it is not open */ }
  };

  new PerformanceObserver((list) => {
    for (const { name } of list.getEntries()) {
      if (!isCaptions(name) || fetched.includes(name) || own.has(name)) continue;
      fetched.push(name);
      if (fetched.length > MOST_ADDRESSES) fetched.shift();
      announce();
    }
  }).observe({ type: "resource", buffered: true });

  /** Ask the player. Events are dispatched at once, so its answer is there when this returns. */
  const askPlayer = () => {
    let answer = "";
    const take = (/** @type {Event} */ event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      if (typeof detail === "string" && detail.length <= LONGEST_ANSWER) answer = detail;
    };
    document.addEventListener("cuebase-answer", take);
    document.dispatchEvent(new CustomEvent("cuebase-ask"));
    document.removeEventListener("cuebase-answer", take);
    return answer;
  };

  /** @param {ReadableStream<Uint8Array>} body */
  const readText = async (body) => {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > MOST_BYTES) throw new Error("too large");
      text += decoder.decode(value, { stream: true });
    }
  };

  const fetchCaptions = async (/** @type {string} */ address) => {
    if (!isCaptions(address)) return { text: "" };
    own.add(address);
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE) });
      return { text: response.ok && response.body ? await readText(response.body) : "" };
    } catch {
      return { text: "" };
    }
  };

  const seek = (/** @type {number} */ seconds) => {
    const video = document.querySelector("video");
    if (!video) return;
    video.currentTime = seconds;
    video.play().catch(() => {}); // the browser may want a click on the page first
  };

  chrome.runtime.onMessage.addListener((message, _sender, answer) => {
    if (message.ask === "captions") {
      fetchCaptions(message.address).then(answer);
      return true; // answered later
    }
    if (message.ask === "seek") seek(message.seconds);
    const seconds = document.querySelector("video")?.currentTime ?? 0;
    answer({ address: location.href, player: askPlayer(), fetched, seconds });
    return false;
  });
}
