// What scripts say, in the language of the site, of which the page brings the translations. English
// needs none.

/** @type {Record<string, string | string[]>} */
const translations = JSON.parse(
  globalThis.document?.getElementById("texts")?.textContent ?? "{}",
);

/**
 * Translate a text, and fill its {names} with values.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export const gettext = (text, values = {}) => filled(String(translations[text] ?? text), values);

/**
 * Translate a text for a count, and fill its {names} with values; {count} is the count.
 * @param {string} singular
 * @param {string} plural
 * @param {number} count
 * @param {Record<string, string | number>} values
 */
export function ngettext(singular, plural, count, values = {}) {
  const page = globalThis.document;
  // A page about REST is English, within a site that may be in another language.
  const language = page?.body?.lang || page?.documentElement.lang || "en";
  const forms = [translations[singular] ?? [singular, plural]].flat();
  return filled(forms[pluralForm(count, language, forms.length)], { count, ...values });
}

// As the forms stand in a file of gettext: one, few, many, other, as far as a language has them.
const KINDS = ["zero", "one", "two", "few", "many", "other"];

/**
 * Return which of a language's forms belongs to a count.
 * @param {number} count
 * @param {string} language
 * @param {number} forms how many there are
 */
export function pluralForm(count, language, forms) {
  const rules = new Intl.PluralRules(language);
  const kinds = new Set(rules.resolvedOptions().pluralCategories);
  const own = KINDS.filter((kind) => kinds.has(/** @type {Intl.LDMLPluralRule} */ (kind)));
  return Math.min(own.indexOf(rules.select(count)), forms - 1);
}

/**
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
const filled = (text, values) =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
