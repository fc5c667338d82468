// What the panel shows, built of elements and text, never of markup.

import { clock } from "./captions.js";
import { seek } from "./tabs.js";

/** @param {string} id @returns {any} */
export const the = (id) => document.getElementById(id);

/**
 * @param {string} name
 * @param {string | Node[]} content
 * @param {Record<string, string>} attributes
 */
export function element(name, content, attributes = {}) {
  const tag = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) tag.setAttribute(attribute, value);
  tag.append(...(typeof content === "string" ? [content] : content));
  return tag;
}

/** @param {string} id @param {Node[]} items */
export const list = (id, items) =>
  the(id).replaceChildren(...items.map((item) => element("li", [item])));

/** @param {string} id @param {{value: string, name: string}[]} rows @param {string} chosen */
export function choices(id, rows, chosen) {
  the(id).replaceChildren(...rows.map(({ value, name }) => element("option", name, { value })));
  the(id).value = rows.some(({ value }) => value === chosen) ? chosen : rows[0]?.value ?? "";
}

/** @param {{text: string, isMatch: boolean}[]} parts */
export const marks = (parts) => parts.map(({ text, isMatch }) =>
  isMatch ? element("mark", text) : document.createTextNode(text));

/** @param {number} start @param {Node[]} text */
export function seekButton(start, text) {
  const button = element("button", [
    element("span", clock(start), { class: "place" }), element("span", text),
  ], { type: "button" });
  button.addEventListener("click", () => seek(start));
  return button;
}

/** @param {import("./library.js").Passage} passage */
export const passageLink = ({ title, place, text, link }) => element("a", [
  element("strong", title), element("span", place, { class: "place" }), element("span", text),
], { href: link, target: "_blank", rel: "noreferrer" });
