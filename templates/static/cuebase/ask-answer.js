// An answer as it is written: stages, claims with their citations, then the whole of it.

import { all, find, need, parsed, scrolling } from "./dom.js";
import { takeEvents } from "./text.js";
import { gettext, ngettext } from "./texts.js";

const HEADER = 80; // pixels, as scroll-margin-top of an answer
const NO_REPLY = '<div class="notice notice-error"><p>The server does not answer. Check that it '
  + "runs, then load this page again.</p></div>";
const log = need("[data-log]");

/** @param {string} text */
function tell(text) {
  log.append(Object.assign(document.createElement("p"), { textContent: text }));
}

function isAtEnd() {
  return document.documentElement.scrollHeight - scrollY - innerHeight < 160;
}

/**
 * Return where an answer is read from: the first one from the title of the conversation.
 * @param {Element} article
 */
export const startOf = (article) =>
  article.previousElementSibling ? article : need("#ask-head");

/**
 * Scroll to the end of an answer, clear of the question box, while its question stays in sight;
 * else to its start.
 * @param {Element} article
 * @param {ScrollBehavior} behavior
 */
export function scrollToAnswer(article, behavior = scrolling()) {
  const [start, question] = [startOf(article), article].map((element) =>
    scrollY + element.getBoundingClientRect().top - HEADER);
  const bottom = document.documentElement.scrollHeight - innerHeight;
  scrollTo({ top: bottom > question ? start : bottom, behavior });
}

/**
 * Add a claim and its citations, and the question above it where another one begins.
 * @param {string} html
 * @param {HTMLElement} article
 */
function addClaim(html, article) {
  const isFollowing = isAtEnd();
  const piece = parsed(html);
  const claim = need(".claim", piece);
  const heading = find(".part-question", piece);
  need("[data-claims]", article).append(...(heading ? [heading, claim] : [claim]));
  const list = need("[data-cited]", article);
  list.append(...all("li", piece));
  list.hidden = !list.children.length;
  const others = find("[data-claims] > .claim:not(.quotation)", article);
  list.classList.toggle("answer-cited-above", !others); // each quotation names its source
  if (heading) tell(heading.textContent ?? "");
  const said = find(".quotation-text", claim) ?? claim;
  if (!claim.matches(".claim-more")) tell((said.textContent ?? "").replaceAll(/\[\d+\]/g, ""));
  if (isFollowing) scrollToAnswer(article);
}

/**
 * Replace what has arrived by the whole answer.
 * @param {string} html
 * @param {HTMLElement} article
 */
function finish(html, article) {
  const answer = parsed(html);
  const hadFocus = article.contains(document.activeElement);
  const isFollowing = isAtEnd();
  article.replaceWith(answer);
  htmx.process(answer);
  if (isFollowing) scrollToAnswer(answer);
  const citations = all(".answer-cited > li", answer).length;
  const refusal = find(".refusal-note", answer)?.textContent?.trim();
  tell(refusal ?? ngettext(
    "The answer is complete: {count} citation.",
    "The answer is complete: {count} citations.",
    citations,
  ));
  if (hadFocus) find("a, button", answer)?.focus({ preventScroll: true });
}

/**
 * @param {string} html
 * @param {HTMLElement} article
 */
function fail(html, article) {
  find("[data-stage]", article)?.remove();
  const notice = parsed(html);
  article.append(notice);
  tell((notice.textContent ?? "").trim());
}

/**
 * Read the events of a POST's response; EventSource can only GET.
 * @param {Response} response
 */
async function* eventsOf(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const { events, rest } = takeEvents(text + value);
    text = rest;
    yield* events;
  }
}

/**
 * Show an event. Returns true where it is the last one.
 * @param {{name: string, data: string}} event
 * @param {HTMLElement} article
 * @param {(address: string) => void} onBegun
 */
function take({ name, data }, article, onBegun) {
  if (name === "begun") onBegun(data);
  else if (name === "stage") need("[data-stage-text]", article).textContent = data;
  else if (name === "claim") addClaim(data, article);
  else if (name === "answer") finish(data, article);
  else if (name === "failed") fail(data, article);
  return name === "answer" || name === "failed";
}

/**
 * Return the notice of a response that is an error.
 * @param {Response} response
 */
async function noticeOf(response) {
  const text = await response.text();
  const isNotice = text.includes("notice-error") && !text.includes("<html");
  return response.status < 500 && isNotice ? text : NO_REPLY;
}

/**
 * Send a question and show its answer as it arrives. Returns false where it was not taken.
 * @param {string} address
 * @param {FormData} body
 * @param {HTMLElement} article
 * @param {(address: string) => void} onBegun receives the address of the conversation
 */
export async function followAnswer(address, body, article, onBegun) {
  log.replaceChildren();
  tell(gettext("Asked"));
  let isOver = false;
  try {
    const headers = { Accept: "text/event-stream" };
    const response = await fetch(address, { method: "POST", body, headers });
    if (!response.ok) {
      fail(await noticeOf(response), article);
      isOver = true;
      return false;
    }
    for await (const event of eventsOf(response)) {
      isOver = take(event, article, onBegun);
      if (isOver) break; // the next question can be asked at once
    }
    return true;
  } catch {
    return false;
  } finally {
    if (!isOver) fail(NO_REPLY, article);
  }
}
