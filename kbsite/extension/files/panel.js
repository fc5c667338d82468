// The panel beside a video: what is known of it, and what its reader may do.

import { ADDRESS, account, connect, Problem, SIGNED_OUT, signOut } from "./account.js";
import { findCues, readCues, saidBefore } from "./captions.js";
import { choices, list, marks, passageLink, seekButton, the } from "./elements.js";
import { add, collections, pageOf, search, stateOf } from "./library.js";
import { readCaptions, readPage, watch } from "./tabs.js";
import { keyOf, preferred, readVideo } from "./video.js";

const PAUSE = 400; // ms of typing after which the library is asked
const POLL = 3_000; // ms
const POLLS = 40;
const RELATED = 5;
const WITHHELD = "The player has not loaded the captions yet: switch subtitles on in it.";

/** @type {import("./video.js").Video | null} */
let video = null;
/** @type {import("./captions.js").Cue[]} */
let cues = [];
let content = ""; // of the captions, as the player got them
let state = "absent";
let turn = 0; // rises with each page that is shown: answers about an earlier one are dropped

/** @param {string} text */
function tell(text, error = "") {
  the("notice").textContent = text;
  the("error").textContent = error;
}

/**
 * Do what may fail, and say why it did.
 * @param {() => Promise<void>} work
 */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === SIGNED_OUT) showAccount(false);
    tell("", error.message);
  }
}

/** @param {boolean} isConnected */
function showAccount(isConnected) {
  the("connecting").hidden = isConnected;
  the("sign-out").hidden = !isConnected;
  if (!isConnected) for (const id of ["adding", "open", "relating", "passages-title"]) {
    the(id).hidden = true;
  }
}

/** Show what there is to say of the tab's page. */
async function show() {
  turn += 1;
  const now = turn;
  const isConnected = (await account()) !== null;
  showAccount(isConnected);
  const page = await readPage();
  if (now !== turn) return;
  const before = video?.id;
  video = page && readVideo(page);
  tell(video ? "" : "Open a video. If one is open, reload its page once.");
  for (const id of ["video", "finding"]) the(id).hidden = !video;
  if (before !== video?.id) forget();
  if (!video) return;
  the("title").textContent = video.title || video.id;
  the("channel").textContent = video.channel;
  showTracks(video);
  if (!cues.length) await loadCaptions(now);
  if (isConnected && now === turn) await attempt(() => showLibrary(now));
}

/** Clear what was said of the page before. */
function forget() {
  [cues, content, state] = [[], "", "absent"];
  the("find").value = "";
  for (const id of ["count", "about"]) the(id).textContent = "";
  for (const id of ["matches", "passages", "related"]) list(id, []);
  for (const id of ["adding", "open", "relating", "passages-title"]) the(id).hidden = true;
}

/** List the tracks; the one that is chosen stays. @param {import("./video.js").Video} shown */
function showTracks({ tracks }) {
  const rows = tracks.map((track) => ({
    value: keyOf(track),
    name: track.name || track.language + (track.automatic ? " (automatic)" : ""),
  }));
  const best = preferred(tracks, navigator.languages);
  const before = rows.find(({ value }) => value === the("track").value)?.value;
  choices("track", rows, before ?? (best ? keyOf(best) : ""));
}

const track = () => video?.tracks.find((option) => keyOf(option) === the("track").value) ?? null;

/** @param {number} now */
async function loadCaptions(now) {
  const chosen = track();
  const text = chosen ? await readCaptions(chosen.address) : "";
  if (now !== turn || chosen !== track()) return;
  content = text;
  cues = readCues(text);
  const missing = chosen ? WITHHELD : "This video has no captions, or the player does not say so.";
  the("captions").textContent = cues.length ? `${cues.length} captions are loaded.` : missing;
  showMatches();
}

/** Load the captions of another track. */
async function changeTrack() {
  [cues, content] = [[], ""];
  await loadCaptions(turn);
}

/** Say whether the video is in the library, and what else is about it. @param {number} now */
async function showLibrary(now) {
  if (!video) return;
  await showState(now);
  if (now === turn && video.title) await showRelated(video.title, `“${video.title}”`);
}

/** @param {number} now */
async function showState(now) {
  if (!video) return;
  const { id } = video;
  const current = await stateOf(id);
  if (now !== turn) return;
  state = current;
  const isThere = state !== "absent";
  the("open").hidden = !isThere;
  the("open").href = pageOf(id);
  the("adding").hidden = isThere || !cues.length;
  if (!the("adding").hidden) await showCollections();
  the("passages-title").hidden = state !== "searchable";
}

async function showCollections() {
  const rows = await collections();
  const { collection = "" } = await chrome.storage.local.get("collection");
  choices("collection", rows, collection);
  the("collection").parentElement.hidden = rows.length < 2;
}

/** Send the captions, and follow them until they can be searched. */
async function addVideo() {
  const chosen = track();
  if (!video || !chosen) return;
  if (!cues.length) throw new Problem(WITHHELD);
  const now = turn;
  const collection = the("collection").value;
  tell("The captions are being sent …");
  const change = await add(video, chosen, content, collection);
  await chrome.storage.local.set({ collection });
  if (now !== turn) return;
  tell(change === "added" ? "Added to the library." : "It was in the library already.");
  for (let poll = 0; poll < POLLS && now === turn; poll += 1) {
    await showState(now);
    if (state === "searchable") break;
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

/** Search the captions, at once. */
function showMatches() {
  const query = the("find").value.trim();
  const matches = findCues(cues, query);
  list("matches", matches.map(({ start, parts }) => seekButton(start, marks(parts))));
  const places = matches.length === 1 ? "1 place" : `${matches.length} places`;
  the("count").textContent = query && cues.length ? `${places} in the captions` : "";
}

/** Search the video in the library, by words and meaning. */
async function showPassages() {
  const query = the("find").value.trim();
  const now = turn;
  const isSearchable = video && query && state === "searchable";
  const passages = isSearchable ? await search(query, { id: video?.id }) : [];
  if (now !== turn || query !== the("find").value.trim()) return;
  list("passages", passages.map(({ start, text }) =>
    seekButton(start ?? 0, [document.createTextNode(text)])));
}

/** @param {string} query @param {string} subject */
async function showRelated(query, subject) {
  const now = turn;
  const passages = await search(query, { most: 20 });
  if (now !== turn) return;
  const sources = new Set();
  const others = passages.filter(({ isLikely, videoId, source }) => { // the best of each source
    const isNew = isLikely && videoId !== video?.id && !sources.has(source);
    return isNew && sources.add(source);
  });
  the("relating").hidden = false;
  the("about").textContent = others.length
    ? `About ${subject}`
    : `Nothing else in the library seems to be about ${subject}.`;
  list("related", others.slice(0, RELATED).map(passageLink));
}

async function showRelatedNow() {
  const seconds = (await readPage())?.seconds ?? 0;
  const speech = saidBefore(cues, seconds);
  if (speech) await showRelated(speech, "what is said now");
  else tell("Nothing was said in the last minute.");
}

/**
 * Do something on a click, once at a time.
 * @param {string} id
 * @param {() => Promise<void>} work
 */
function onClick(id, work) {
  the(id).addEventListener("click", async () => {
    the(id).disabled = true;
    await attempt(work);
    the(id).disabled = false;
  });
}

let typing = 0;
the("find").addEventListener("input", () => {
  showMatches();
  clearTimeout(typing);
  typing = setTimeout(() => attempt(showPassages), PAUSE);
});
the("track").addEventListener("change", changeTrack);
the("adding").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const button = the("adding").querySelector("button");
  button.disabled = true;
  await attempt(addVideo);
  button.disabled = false;
});
onClick("now", showRelatedNow);
onClick("connect", async () => {
  await connect();
  await show();
});
onClick("sign-out", async () => {
  try {
    await signOut();
  } finally {
    await show();
  }
  tell("You are signed out, and the library has ended the connection.");
});
the("address").textContent = new URL(ADDRESS).host;
the("address").href = ADDRESS;
watch(show);
show();
