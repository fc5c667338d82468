// Captions in YouTube's json3, and where in them words are. Pure: no page, no network.

const MOST_CUES = 100_000;
const LONGEST_CUE = 5_000; // characters

/** @typedef {{start: number, text: string}} Cue seconds */
/** @typedef {{start: number, parts: {text: string, isMatch: boolean}[]}} Match */

/** @param {any} event */
function cueOf(event) {
  const start = event?.tStartMs;
  if (!Array.isArray(event?.segs) || !Number.isFinite(start) || start < 0) return null;
  const words = event.segs.map((/** @type {any} */ segment) =>
    typeof segment?.utf8 === "string" ? segment.utf8 : "");
  const text = words.join("").replace(/\s+/g, " ").trim().slice(0, LONGEST_CUE);
  return text ? { start: start / 1000, text } : null;
}

/**
 * Read json3. Unusable rows are left out; of anything else there is nothing to read.
 * @param {string} content
 * @returns {Cue[]}
 */
export function readCues(content) {
  let events;
  try { events = JSON.parse(content)?.events; } catch { return []; }
  if (!Array.isArray(events)) return [];
  const cues = events.slice(0, MOST_CUES).map(cueOf).filter((cue) => !!cue);
  return cues.sort((a, b) => a.start - b.start);
}

/** @param {string} text */
const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Find the cues that have every word, or begin what has them together with the next.
 * @param {Cue[]} cues
 * @param {string} query
 * @returns {Match[]} in the order of time
 */
export function findCues(cues, query, most = 50) {
  const words = folded(query).split(/\s+/).filter(Boolean).slice(0, 20);
  if (!words.length) return [];
  const texts = cues.map(({ text }) => folded(text));
  const hasAll = (/** @type {string} */ text) => words.every((word) => text.includes(word));
  const goesOn = (/** @type {string} */ text, next = "") =>
    words.some((word) => text.includes(word)) && !hasAll(next) && hasAll(`${text} ${next}`);
  const matches = [];
  for (let index = 0; index < cues.length && matches.length < most; index += 1) {
    const { start, text } = cues[index];
    if (hasAll(texts[index])) matches.push({ start, parts: marked(text, words) });
    else if (goesOn(texts[index], texts[index + 1])) {
      matches.push({ start, parts: marked(`${text} ${cues[index + 1].text}`, words) });
    }
  }
  return matches;
}

/**
 * Cut a text where words of a query begin and end.
 * @param {string} text
 * @param {string[]} words folded
 */
export function marked(text, words) {
  const characters = [...text];
  const letters = characters.map(folded);
  const inside = characters.map(() => false);
  for (const at of letters.keys()) {
    for (const word of words) inside.fill(true, at, endOf(letters, at, word));
  }
  /** @type {{text: string, isMatch: boolean}[]} */
  const parts = [];
  for (const [at, character] of characters.entries()) {
    const last = parts.at(-1);
    if (last?.isMatch === inside[at]) last.text += character;
    else parts.push({ text: character, isMatch: inside[at] });
  }
  return parts;
}

/**
 * Return where a word ends that begins at a letter; where it does not, that letter.
 * @param {string[]} letters
 * @param {number} at
 * @param {string} word
 */
function endOf(letters, at, word) {
  let end = at;
  let read = "";
  while (end < letters.length && read.length < word.length) read += letters[end++];
  return read === word ? end : at;
}

/**
 * Return what is said up to a time, the latest words of it.
 * @param {Cue[]} cues
 * @param {number} seconds
 */
export function saidBefore(cues, seconds, longest = 400) {
  const text = cues.filter((cue) => cue.start <= seconds && cue.start > seconds - 60)
    .map((cue) => cue.text).join(" ");
  return text.slice(-longest).replace(/^\S*\s/, (cut) => (text.length > longest ? "" : cut));
}

/**
 * Write a time as 2:03 or 1:02:03.
 * @param {number} seconds
 */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60];
  const hours = Math.floor(whole / 3600);
  if (hours) parts.unshift(hours);
  return parts.map((part, index) => (index ? String(part).padStart(2, "0") : part)).join(":");
}
