// While sources are being indexed, the list and its counter are asked for again and again

import { all, find } from "./dom.js";

const SHORTEST = 5_000, LONGEST = 60_000; // ms; longer and longer while nothing changes
let pause = SHORTEST;
/** @type {string | null} the list as it was sent last */
let received = null;
let timer = 0;

/** Whether nobody is in the middle of something that a new list would take away. */
const isIdle = () => !(
  document.hidden || find("dialog[open]:not(#add-dialog), [data-choice]:checked")
  || find("#results .item-form, #results :focus") || all("#results .more ~ *").length
  || new URLSearchParams(location.search).has("offset"));

/** Whether something is being indexed, or fetched, as the header counts. */
const isBusy = () => Boolean(find("[data-unfinished], #activity-now .busy:not(.busy-bad)"));

async function renew() {
  const before = received;
  if (isIdle()) await renewList().catch(() => {}); // the server is away: later
  pause = received === before ? Math.min(1.5 * pause, LONGEST) : SHORTEST;
  clearTimeout(timer); // of what was added meanwhile
  timer = isBusy() ? setTimeout(renew, pause) : 0; // and once after the end
}

function keepRenewing() {
  clearTimeout(timer);
  pause = SHORTEST;
  timer = setTimeout(renew, pause);
}

async function renewList() {
  const response = await fetch(location.href, { headers: { "HX-Request": "true" } });
  const list = response.ok ? await response.text() : received;
  if (list === received || !isIdle()) return;
  received = list;
  await htmx.ajax("GET", location.href, { target: "#results", swap: "innerHTML show:none" });
  htmx.trigger(document.body, "library-renewed");
}

if (isBusy()) keepRenewing();
document.body.addEventListener("activity-changed", keepRenewing); // something was added
