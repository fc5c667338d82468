// The Ask page: sources to choose from, a question, and its answer claim by claim.

import "./ask-details.js";
import { followAnswer, scrollToAnswer, startOf } from "./ask-answer.js";
import { isToAsk } from "./ask-at-once.js";
import {
  all, around, cloned, field, find, isPlainKey, isTyping, need, onHtmx, openDialog, scrolling,
  show,
} from "./dom.js";
import { hasSingleKeys } from "./keys.js";
import { gettext, ngettext } from "./texts.js";

const page = need("[data-ask]");
const answers = need("[data-answers]");
const form = /** @type {HTMLFormElement | null} */ (find("[data-ask-form]"));
const box = /** @type {HTMLTextAreaElement | null} */ (find("[data-question]"));
const button = /** @type {HTMLButtonElement | null} */ (find("[data-ask-button]"));

// In a narrow window the side panels stand above the conversation, folded.

const narrow = matchMedia("(max-width: 72rem)");

function foldPanels() {
  for (const panel of all("[data-panel]")) panel.toggleAttribute("open", !narrow.matches);
  need("#ask-side").dataset.folded = "";
}

foldPanels();
narrow.addEventListener("change", foldPanels);

// Sources

const chosenBoxes = () => /** @type {HTMLInputElement[]} */ (all("[data-choice] input:checked"));

function showChosen() {
  const { length } = chosenBoxes();
  const { total = "" } = need("#ask-sources").dataset;
  need("[data-chosen]").textContent = length
    ? gettext("{count} of {total}", { count: length, total })
    : gettext("all {total}", { total });
  show(find("[data-none]"), length > 0);
  const asked = find("[data-asked]");
  if (asked) asked.textContent = length
    ? ngettext("Ask the source that is chosen.", "Ask the {count} sources that are chosen.", length)
    : ngettext("Ask {count} source.", "Ask {count} sources.", Number(total));
}

page.addEventListener("change", (event) => { if (around(event, "[data-choice]")) showChosen(); });
onHtmx("afterSettle", showChosen);
showChosen();

// Questions

let isAsking = false;
let isNewConversation = false;

/** @param {string} address */
function conversationBegun(address) {
  if (!form || form.getAttribute("action") === address) return;
  form.action = address;
  history.replaceState(history.state, "", address);
  isNewConversation = true;
}

/** Fetch the title, the place in the list and the sources of a new conversation. */
async function renewConversation() {
  if (!isNewConversation || !form || !box) return;
  isNewConversation = false;
  const response = await fetch(form.getAttribute("action") ?? "");
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  document.title = fresh.title;
  box.placeholder = field("[data-question]", fresh).placeholder;
  box.labels[0].textContent = box.placeholder;
  for (const id of ["ask-head", "ask-history", "ask-sources"]) {
    const current = document.getElementById(id);
    const replacement = fresh.getElementById(id);
    if (!current || !replacement || current.contains(document.activeElement)) continue;
    current.replaceWith(replacement);
    htmx.process(replacement);
  }
  showChosen();
}

/**
 * Ask, and follow the answer. Returns false where the server did not take the question.
 * @param {string} address
 * @param {FormData} values
 * @param {HTMLElement} article
 */
async function ask(address, values, article) {
  isAsking = true;
  if (button) button.disabled = true;
  try {
    return await followAnswer(address, values, article, conversationBegun);
  } finally {
    isAsking = false;
    if (button) button.disabled = false;
    renewConversation();
  }
}

/** @param {string} question */
function newArticle(question) {
  find("[data-empty]")?.remove();
  const article = cloned("#asking");
  need("[data-text]", article).textContent = question;
  return article;
}

form?.addEventListener("submit", async (event) => {
  const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (!box || submitter?.formMethod === "get") return;
  event.preventDefault();
  const question = box.value.trim();
  if (isAsking || !question) return;
  const values = new FormData(form);
  const article = newArticle(question);
  answers.append(article);
  box.value = "";
  startOf(article).scrollIntoView({ block: "start", behavior: scrolling() });
  const isTaken = await ask(form.getAttribute("action") ?? "", values, article);
  if (!isTaken && !box.value) box.value = question;
});

document.addEventListener("submit", (event) => {
  const again = /** @type {HTMLFormElement | null} */ (around(event, "[data-again]"));
  const old = again?.closest(".answer");
  if (!again || !old) return;
  event.preventDefault();
  if (isAsking) return;
  const article = newArticle(need(".question", old).textContent?.trim() ?? "");
  old.replaceWith(article);
  article.scrollIntoView({ block: "nearest", behavior: scrolling() });
  ask(again.action, new FormData(again), article);
});

document.addEventListener("submit", (event) => {
  const suggested = /** @type {HTMLFormElement | null} */ (around(event, "[data-suggested]"));
  if (!suggested) return;
  event.preventDefault();
  if (isAsking) return;
  const values = new FormData(suggested);
  const article = newArticle(String(values.get("q")));
  answers.append(article);
  ask(suggested.action, values, article);
});

document.addEventListener("click", (event) => {
  const example = around(event, "[data-example]"); // to be changed before it is asked
  if (example && box) {
    box.value = example.textContent?.trim() ?? "";
    box.focus();
  }
  if (around(event, "[data-none]")) {
    for (const choice of chosenBoxes()) choice.checked = false;
    showChosen();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || !box || !isPlainKey(event) || openDialog()) return;
  if (isTyping(event) || !hasSingleKeys()) return;
  event.preventDefault();
  box.focus();
});

if (isToAsk()) form?.requestSubmit();

// A conversation is read from its last answer.
const latest = answers.lastElementChild;
if (!location.hash && latest) {
  scrollToAnswer(latest, "instant");
}
