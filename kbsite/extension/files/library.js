// The library's REST, as far as the panel needs it.

import { ADDRESS, Problem, send, token } from "./account.js";

/** @typedef {import("./video.js").Video} Video */
/** @typedef {import("./video.js").Track} Track */
/** @typedef {{source: string, title: string, place: string, text: string, start: number | null,
 *   link: string, isLikely: boolean, videoId: string | null}} Passage */

/**
 * Call an operation. Raises ``Problem`` in the library's words.
 * @param {string} path
 * @param {{method?: string, body?: object}} options
 * @returns {Promise<any>}
 */
async function call(path, { method = "GET", body } = {}) {
  const request = async (/** @type {string} */ bearer) => await send(path, {
    method,
    headers: {
      Authorization: `Bearer ${bearer}`,
      ...(body ? { "Content-Type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  let answer = await request(await token());
  if (answer.status === 401) answer = await request(await token(true));
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  const words = [content.detail, content.hint].filter(Boolean).join(" ");
  throw new Problem(words || `The library refused (${answer.status}).`, content.code);
}

/**
 * Return a call's answer, or null where there is no such thing.
 * @param {string} path
 */
async function callIfThere(path) {
  try {
    return await call(path);
  } catch (error) {
    if (error instanceof Problem && error.code.endsWith("not_found")) return null;
    throw error;
  }
}

/**
 * Return the collections that the connection reaches: slugs and names.
 * @returns {Promise<{value: string, name: string}[]>}
 */
export async function collections() {
  const { collections: rows } = await call("/api/content/collections/?limit=100");
  return rows.map((/** @type {any} */ row) => ({ value: `${row.slug}`, name: `${row.name}` }));
}

/**
 * Tell whether a video is in the library, and whether it can be searched.
 * @param {string} id
 * @returns {Promise<"absent" | "stored" | "searchable">}
 */
export async function stateOf(id) {
  const listed = await callIfThere(`/api/v1/sources?source_id=${id}&limit=10`);
  const states = (listed?.sources ?? []).map((/** @type {any} */ source) => source.state);
  if (states.some((/** @type {string} */ state) => state !== "pending")) return "searchable";
  if (states.length) return "stored";
  return (await callIfThere(`/api/v1/transcripts/${id}`)) ? "stored" : "absent";
}

/**
 * Add a video with its captions. Returns whether it is new, changed, or was there: "added" …
 * @param {Video} video
 * @param {Track} track
 * @param {string} captions
 * @param {string} collection
 */
export async function add(video, track, captions, collection) {
  const { id, title, channel } = video;
  const { language, automatic } = track;
  const body = {
    url: id, title, channel: channel.slice(0, 200), language, automatic, captions, collection,
  };
  const { change } = await call("/api/v1/sources/captions", { method: "POST", body });
  return String(change);
}

/**
 * Search the library, or one video of it.
 * @param {string} query
 * @param {{id?: string, most?: number}} options
 * @returns {Promise<Passage[]>}
 */
export async function search(query, { id = "", most = 5 } = {}) {
  const parameters = new URLSearchParams({ q: query.slice(0, 500), limit: String(most) });
  if (id) parameters.set("source_id", id);
  const { passages } = await call(`/api/v1/search?${parameters}`);
  return passages.map(passage);
}

/** @param {any} row @returns {Passage} */
function passage(row) {
  const { pathname, search: query, hash } = new URL(row.link, ADDRESS);
  return {
    source: String(row.source_id),
    title: String(row.title),
    place: String(row.place),
    text: String(row.text),
    start: row.start,
    link: new URL(pathname + query + hash, ADDRESS).href, // of this library, whatever it says
    isLikely: row.is_likely,
    videoId: row.video_id,
  };
}

/** @param {string} id */
export const pageOf = (id) => `${ADDRESS}/videos/find/?id=${encodeURIComponent(id)}`;
