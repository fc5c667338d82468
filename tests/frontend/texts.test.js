import assert from "node:assert/strict";
import { test } from "node:test";

const german = {
  "Copied": "Kopiert",
  "At {time}": "Bei {time}",
  "{count} file": ["{count} Datei", "{count} Dateien"],
};
const page = {
  getElementById: () => ({ textContent: JSON.stringify(german) }),
  documentElement: { lang: "de" },
  body: { lang: "" },
};
globalThis.document = page;
const { gettext, ngettext, pluralForm } = await import("../../templates/static/cuebase/texts.js");

test("a text is said in the language of the page, or in English where it has none", () => {
  assert.equal(gettext("Copied"), "Kopiert");
  assert.equal(gettext("At {time}", { time: "3:28" }), "Bei 3:28");
  assert.equal(gettext("Saved as {name}", { name: "a.txt" }), "Saved as a.txt");
});

test("what is filled in is never read as a place for something else", () => {
  assert.equal(gettext("{name}, page {page}", { name: "{page}", page: 3 }), "{page}, page 3");
});

test("things are counted as the language does", () => {
  assert.deepEqual([0, 1, 2].map((count) => ngettext("{count} file", "{count} files", count)), [
    "0 Dateien", "1 Datei", "2 Dateien",
  ]);
  assert.equal(ngettext("{count} place", "{count} places", 1), "1 place");
  assert.equal(ngettext("{count} place", "{count} places", 0), "0 places");
});

test("on a page about REST, which is English, counts follow the language of the site", () => {
  // French counts nothing as one.
  globalThis.document = { documentElement: { lang: "en" }, body: { lang: "fr" } };
  assert.equal(ngettext("{count} file", "{count} files", 0), "0 Datei");
  globalThis.document = page;
});

test("the forms of a count stand as in a file of gettext", () => {
  const forms = (language, count) => [0, 1, 2, 5, 21].map((n) => pluralForm(n, language, count));
  assert.deepEqual(forms("fr", 2), [0, 0, 1, 1, 1]);
  assert.deepEqual(forms("pl", 3), [2, 0, 1, 2, 2]);
  assert.deepEqual(forms("ru", 3), [2, 0, 1, 2, 0]);
  assert.deepEqual(forms("ja", 1), [0, 0, 0, 0, 0]);
});
