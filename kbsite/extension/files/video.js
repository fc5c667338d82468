// A video as its page describes it. The page may be hostile: everything is checked and bounded.

const VIDEO_ID = /^[\w-]{11}$/;
const LANGUAGE = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;
const MOST_TRACKS = 100;
const LONGEST_LINE = 300; // characters

/** @typedef {{language: string, automatic: boolean, name: string, address: string}} Track */
/** @typedef {{id: string, title: string, channel: string, tracks: Track[]}} Video */

/** @param {unknown} value */
const line = (value) =>
  typeof value === "string" ? value.replace(/\s+/g, " ").trim().slice(0, LONGEST_LINE) : "";

/** @param {string} address */
function parsed(address, base = "") {
  try { return new URL(address, base || undefined); } catch { return null; }
}

/**
 * Return the id of the video that is watched at an address; "" at any other page.
 * @param {string} address
 */
export function watchedId(address) {
  const url = parsed(address);
  const id = url?.pathname === "/watch" ? url.searchParams.get("v") ?? "" : "";
  return VIDEO_ID.test(id) ? id : "";
}

/**
 * Read what a page and its player say. Null: this is no video's page.
 * @param {{address: string, player: string, fetched: string[]}} page
 * @returns {Video | null}
 */
export function readVideo({ address, player, fetched }) {
  const id = watchedId(address);
  if (!id) return null;
  const current = readPlayer(player);
  const isCurrent = current.id === id; // a player may still be at the video before
  /** @type {unknown[]} */
  const listed = isCurrent && Array.isArray(current.tracks) ? current.tracks : [];
  const loaded = fetched.map((reply) => loadedTrack(reply, address, id)).filter((track) => !!track);
  const tracks = listed.slice(0, MOST_TRACKS)
    .map((track) => listedTrack(track, address, id)).filter((track) => !!track);
  return {
    id,
    title: isCurrent ? line(current.title) : "",
    channel: isCurrent ? line(current.channel) : "",
    tracks: merged(tracks, loaded),
  };
}

/** @param {string} text */
function readPlayer(text) {
  try { return JSON.parse(text) ?? {}; } catch { return {}; }
}

/**
 * @param {any} track
 * @param {string} page
 * @param {string} id
 * @returns {Track | null}
 */
function listedTrack(track, page, id) {
  if (typeof track?.address !== "string") return null;
  const address = captionsAddress(track.address, page, id);
  if (!address || typeof track.language !== "string" || !LANGUAGE.test(track.language)) return null;
  const automatic = track.kind === "asr";
  return { language: track.language, automatic, name: line(track.name), address };
}

/**
 * Read the address of captions that the player has fetched; null for translations by machine.
 * @param {string} fetched
 * @param {string} page
 * @param {string} id
 * @returns {Track | null}
 */
function loadedTrack(fetched, page, id) {
  const address = captionsAddress(fetched, page, id);
  if (!address) return null;
  const { searchParams } = new URL(address);
  const language = searchParams.get("lang") ?? "";
  if (!LANGUAGE.test(language) || searchParams.get("tlang")) return null;
  return { language, automatic: searchParams.get("kind") === "asr", name: "", address };
}

/**
 * Return the address of a video's captions on its own site, as json3; "" for any other address.
 * @param {string} written
 * @param {string} page
 * @param {string} id
 */
function captionsAddress(written, page, id) {
  const url = parsed(written, page);
  const isOurs = url?.origin === parsed(page)?.origin && url?.pathname === "/api/timedtext";
  if (!url || !isOurs || url.searchParams.get("v") !== id) return "";
  url.searchParams.set("fmt", "json3");
  return url.href;
}

/**
 * Take the listed tracks, each with the address that the player used, then those that only the
 * player knew. Its addresses carry what the site asks of a player.
 * @param {Track[]} listed
 * @param {Track[]} loaded
 */
function merged(listed, loaded) {
  /** @type {Map<string, Track>} */
  const tracks = new Map();
  for (const track of [...listed, ...loaded]) {
    const key = keyOf(track);
    tracks.set(key, { ...track, name: tracks.get(key)?.name || track.name });
  }
  return [...tracks.values()];
}

/**
 * Choose the track to begin with, as the library does: written by people in a language that the
 * reader knows, what was said as a machine heard it, any other.
 * @param {Track[]} tracks
 * @param {readonly string[]} languages
 */
export function preferred(tracks, languages) {
  const base = (/** @type {string} */ language) => language.split("-")[0].toLowerCase();
  const preferred = new Set(languages.map(base));
  const rank = (/** @type {Track} */ { automatic, language }) => {
    if (automatic) return 1;
    return preferred.has(base(language)) ? 0 : 2;
  };
  return [...tracks].sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** @param {Track} track */
export const keyOf = ({ language, automatic }) => `${language} ${automatic}`;
