// The player of a recording: loads when it is asked for, plays a clip once, seeks, changes speed.

import { find, store, stored } from "./dom.js";
import { controlMedia } from "./media-file.js";
import { loadPlayer, PAUSED, PLAYING } from "./youtube.js";

/** A clip: it plays once, from its start to its end, and then is over. Times are milliseconds. */
class Clip {
  #timer = 0;
  #hasBegun = false;

  /**
   * @param {number} from
   * @param {number} until
   * @param {(name: string, ...values: unknown[]) => void} command of the player
   */
  constructor(from, until, command) {
    this.from = from;
    this.until = until;
    this.command = command;
    this.isOn = until > from;
  }

  end() {
    this.isOn = false;
    clearTimeout(this.#timer);
  }

  stop() {
    this.end();
    this.command("pauseVideo");
  }

  /**
   * Stop at the end. The player tells its position a few times a second, so the last two seconds
   * are timed here.
   * @param {number} ms
   * @param {number | undefined} state of the player
   * @param {number} speed
   */
  update(ms, state, speed) {
    clearTimeout(this.#timer);
    if (!this.isOn || state === PAUSED) return;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (ms < this.from - 50) this.command("seekTo", this.from / 1000, true);
      return;
    }
    const left = this.until - ms;
    if (left < -2000) this.end(); // moved past the end by hand
    else if (left <= 0) this.stop();
    else if (left < 2000) this.#timer = setTimeout(() => this.stop(), left / speed);
  }
}

/**
 * Control a recording's own player, or that of a box with "data-youtube"; it tells where it is, in
 * milliseconds.
 * @param {HTMLElement} box
 * @param {(ms: number) => void} onPosition
 */
export function controlPlayer(box, onPosition) {
  return box instanceof HTMLMediaElement
    ? controlMedia(box, onPosition) : controlYouTube(box, onPosition);
}

/**
 * @param {HTMLElement} box
 * @param {(ms: number) => void} onPosition
 */
function controlYouTube(box, onPosition) {
  /** @type {ReturnType<typeof loadPlayer> | null} */
  let player = null;
  let speed = Number(stored("speed") ?? 1);
  /** @type {number | undefined} */
  let state;
  const { from, until } = box.dataset;
  const clip = new Clip(Number(from ?? 0), Number(until ?? 0), (name, ...values) =>
    player?.command(name, ...values));

  /** @param {number} ms where to begin */
  function load(ms) {
    let isFirst = true;
    player = loadPlayer(box, box.dataset.youtube ?? "", {
      title: box.dataset.title,
      parameters: { start: Math.floor(ms / 1000) },
      onInfo({ currentTime, playerState }) {
        state = playerState ?? state;
        if (typeof currentTime !== "number") return;
        if (isFirst && speed !== 1) player?.command("setPlaybackRate", speed);
        isFirst = false;
        onPosition(currentTime * 1000);
        clip.update(currentTime * 1000, playerState, speed);
      },
    });
    return player;
  }

  /**
   * Move the player if it is loaded.
   * @param {number} ms
   */
  function show(ms) {
    clip.end();
    player?.command("seekTo", ms / 1000, true);
    player?.command("playVideo");
  }

  return {
    isClip: () => clip.isOn,
    show,
    skip: show,

    /** @param {number} ms where to begin */
    play(ms) { load(ms).frame.focus(); },

    /** @param {number} ms where to begin, if nothing is loaded */
    toggle(ms) {
      if (player) player.command(state === PLAYING ? "pauseVideo" : "playVideo");
      else load(ms);
    },

    /**
     * Play from a time that was chosen outside of the player, where the focus stays.
     * @param {number} ms
     */
    seek(ms) {
      if (player) {
        show(ms);
      } else {
        clip.end();
        load(ms);
      }
    },

    /** @param {number} rate */
    setSpeed(rate) {
      speed = rate;
      store("speed", String(rate));
      player?.command("setPlaybackRate", rate);
    },
  };
}

/** Show the speed that was chosen last. */
export function showSpeed() {
  const choice = /** @type {HTMLSelectElement | null} */ (find("[data-speed]"));
  const last = stored("speed");
  if (choice && last) choice.value = last;
}
