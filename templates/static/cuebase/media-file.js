// The player of a recording's own audio or video file, which is the browser's.

import { store, stored } from "./dom.js";

/**
 * Control a player whose address names where it begins, and where a clip ends.
 * @param {HTMLMediaElement} media
 * @param {(ms: number) => void} onPosition
 */
export function controlMedia(media, onPosition) {
  const [address, place = ""] = media.src.split("#");
  let isClip = place.includes(",");
  let hasBegun = false; // until then the page stays where it was opened

  media.defaultPlaybackRate = Number(stored("speed") ?? 1);
  media.playbackRate = media.defaultPlaybackRate;
  media.addEventListener("play", () => {
    hasBegun = true;
    media.classList.add("played"); // from now on it stays in view
  });
  media.addEventListener("timeupdate", () => {
    if (hasBegun) onPosition(media.currentTime * 1000);
  });

  /** @param {number} ms */
  function show(ms) {
    if (isClip) media.src = `${address}#t=${ms / 1000}`; // its end would stop the player again
    else media.currentTime = ms / 1000;
    isClip = false;
  }

  /** @param {number} ms */
  function seek(ms) {
    show(ms);
    media.play().catch(() => {});
  }

  return {
    isClip: () => isClip,
    play() { media.play().catch(() => {}); }, // the player itself says that it cannot
    toggle() { if (media.paused) media.play().catch(() => {}); else media.pause(); },
    show,
    seek,
    skip: seek,

    /** @param {number} rate */
    setSpeed(rate) {
      store("speed", String(rate));
      media.defaultPlaybackRate = rate;
      media.playbackRate = rate;
    },
  };
}
