// YouTube's player: loaded when it is asked for, moved by messages, telling where it is.

const HOST = "https://www.youtube-nocookie.com";
export const PLAYING = 1;
export const PAUSED = 2;

/** @typedef {{currentTime?: number, playerState?: number}} PlayerInfo seconds; PLAYING, PAUSED */

/**
 * Read a message of the player.
 * @param {unknown} message
 * @returns {PlayerInfo | null}
 */
export function playerInfo(message) {
  if (typeof message !== "string") return null;
  try { return JSON.parse(message)?.info ?? null; } catch { return null; }
}

/**
 * Return the address of a video's player.
 * @param {string} video
 * @param {Record<string, string | number | undefined>} parameters
 */
export function embedAddress(video, parameters) {
  const all = Object.entries({ autoplay: 1, playsinline: 1, rel: 0, ...parameters });
  const pairs = all.filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);
  return `${HOST}/embed/${video}?${new URLSearchParams(pairs)}`;
}

/**
 * Load the player into an element.
 * @param {HTMLElement} element
 * @param {string} video
 * @param {{title?: string, parameters?: Record<string, string | number | undefined>,
 *   onInfo?: (info: PlayerInfo) => void}} options
 */
export function loadPlayer(element, video, { title = "", parameters = {}, onInfo } = {}) {
  const frame = document.createElement("iframe");
  frame.title = `YouTube: ${title}`;
  frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
  frame.referrerPolicy = "strict-origin-when-cross-origin";
  const control = onInfo ? { enablejsapi: 1, origin: location.origin } : {};
  frame.src = embedAddress(video, { ...control, ...parameters });
  // To any origin: nothing in it is secret, and where YouTube cannot be reached the browser would
  // write an error for every message that its own page of excuse, of no origin, does not get.
  const post = (/** @type {object} */ message) =>
    frame.contentWindow?.postMessage(JSON.stringify(message), "*");
  if (onInfo) {
    frame.addEventListener("load", () => post({ event: "listening", id: 1 }));
    addEventListener("message", (event) => {
      if (event.origin !== HOST || event.source !== frame.contentWindow) return;
      const info = playerInfo(event.data);
      if (info) onInfo(info);
    });
  }
  element.replaceChildren(frame);
  return {
    frame,
    /**
     * Send a command of YouTube's player API.
     * @param {string} name
     * @param {unknown[]} args
     */
    command: (name, ...args) => post({ event: "command", func: name, args }),
  };
}
