// Speech, recognised by the browser where it can, sent piece by piece.

import { announce, find, need, show } from "./dom.js";
import { transcript } from "./lecture-transcript.js";
import { gettext } from "./texts.js";

const NOT_ALLOWED =
  gettext("The browser may not use the microphone. Allow it for this page, then try again.");
const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
const button = find("[data-listen]");
const form = /** @type {HTMLFormElement | null} */ (find("[data-say]"));
/** @type {string[]} */
const unsent = [];
let isSending = false;
/** @type {SpeechRecogniser | null} */
let recogniser = null;

/** Send one piece after the other; what could not be sent goes with the next. */
async function send() {
  if (!form || isSending || !unsent.length) return;
  isSending = true;
  const pieces = [...unsent];
  try {
    const body = new FormData(form);
    body.set("text", pieces.join(" "));
    const headers = { "HX-Request": "true" };
    const response = await fetch(form.action, { method: "POST", body, headers });
    if (response.ok) unsent.splice(0, pieces.length);
  } catch {
    setTimeout(send, 2000);
  } finally {
    isSending = false;
  }
  if (unsent.length) setTimeout(send, 500);
}

/** @param {string} text */
function showInterim(text) {
  const interim = find("[data-interim]");
  if (interim) interim.textContent = text;
  show(interim, Boolean(text));
}

/** @param {boolean} isListening */
function drawButton(isListening) {
  const label = button && find("[data-listen-text]", button);
  button?.classList.toggle("playing", isListening);
  if (label) {
    label.textContent = isListening ? gettext("Stop listening") : gettext("Listen");
  }
}

export function stopListening() {
  const stopped = recogniser;
  recogniser = null;
  stopped?.stop();
  showInterim("");
  drawButton(false);
}

/** @param {SpeechEvent} event */
function take({ results, resultIndex }) {
  let interim = "";
  for (const result of [...results].slice(resultIndex)) {
    if (result.isFinal) unsent.push(result[0].transcript.trim());
    else interim += result[0].transcript;
  }
  showInterim(interim);
  send();
}

/** @param {new () => SpeechRecogniser} Recogniser */
function startListening(Recogniser) {
  recogniser = new Recogniser();
  recogniser.continuous = true;
  recogniser.interimResults = true;
  recogniser.lang = transcript.lang || navigator.language;
  recogniser.addEventListener("result", (event) => take(/** @type {SpeechEvent} */ (event)));
  recogniser.addEventListener("error", (event) => {
    const { error } = /** @type {Event & {error: string}} */ (event);
    if (error === "no-speech" || error === "network") return;
    stopListening();
    announce(NOT_ALLOWED);
    need("[data-listen-note]").textContent = NOT_ALLOWED;
  });
  recogniser.addEventListener("end", () => recogniser?.start()); // it stops after a silence
  recogniser.start();
  drawButton(true);
}

if (button) {
  show(button, Boolean(Recognition));
  show(find("[data-listen-note]"), Boolean(Recognition));
  show(find("[data-deaf]"), !Recognition);
  button.addEventListener("click", () => {
    if (recogniser) stopListening();
    else if (Recognition) startListening(Recognition);
  });
}
