// Text from outside becomes text nodes, never markup.

// Characters that are invisible, change the writing direction or control a terminal; the same as in kii-push. Joiners
// and variation selectors may follow characters that they can shape.
const rule = (kept) =>
  new RegExp(
    String.raw`(?:(?![${kept}\u200c\u200d\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]` +
      String.raw`|(?<![\u0600-\u200b\u200e-\u{10ffff}])[\u200c\u200d]` +
      String.raw`|(?<![\u0600-\u200b\u200e-\ufdff\ufe10-\u{10ffff}])[\ufe00-\ufe0f])+`,
    "gu",
  );
export const unseen = rule("");
const unseenInLines = rule("\\n");
const number = (character) => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`;

/** Shows each invisible character as a marked number, such as `\u{202E}`. */
function shown(text, hidden = unseen) {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(hidden)) {
    const mark = document.createElement("span");
    mark.className = "mark";
    mark.textContent = [...match[0]].map(number).join("");
    fragment.append(text.slice(end, match.index), mark);
    end = match.index + match[0].length;
  }
  fragment.append(text.slice(end));
  return fragment;
}

/** A function among the attributes is a listener. Children other than nodes become text. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).map((child) => (child instanceof Node ? child : shown(String(child)))));
  return element;
}

/** Focusable, so that the keyboard can scroll the text. */
export const block = (text) => el("pre", { tabindex: "0" }, shown(text, unseenInLines));
export const button = (text, click) => el("button", { type: "button", click }, text);
export const dim = (text) => el("p", { class: "dim" }, text);
export const facts = (pairs) => {
  const known = pairs.filter(([, value]) => value != null);
  return el("dl", {}, known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
};

/** A cell is text, a node, or `[class, text]`. */
export function table(caption, titles, rows) {
  const head = el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)));
  const cell = (one) => (Array.isArray(one) ? el("td", { class: one[0] }, one[1]) : el("td", {}, one));
  const body = rows.map((row) => el("tr", {}, row.map(cell)));
  return el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body));
}

/** Returns a function that marks a tab as chosen. */
export function tabs(list, choose) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const pick = (tab) => {
    tab.focus();
    choose(tab.dataset.name);
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) pick(tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = all.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    pick(all.at(next % all.length));
  });
  return (name) => {
    for (const tab of all) {
      tab.setAttribute("aria-selected", String(tab.dataset.name === name));
      tab.tabIndex = tab.dataset.name === name ? 0 : -1;
    }
  };
}

// UUIDs, and Kii's IDs of users, things and installations.
const identifiers =
  /(?<![\w-])(?:[\da-f]{8,12}(?:-[\da-f]{4}){3}-[\da-f]{8,12}|(?=[a-z]*\d)[\da-z]{20,})(?![\w-])/gi;

export const brief = (text) => text.replace(identifiers, (one) => `${one.slice(0, 6)}…`);

const two = (value, width = 2) => String(value).padStart(width, "0");
export function clock(milliseconds, isExact = false) {
  const date = new Date(milliseconds);
  const text = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => two(part)).join(":");
  return isExact ? `${text}.${two(date.getMilliseconds(), 3)}` : text;
}

export const tell = (element, text) => element.replaceChildren(shown(text));

export function say(text, isBad = false) {
  const outcome = document.getElementById("outcome");
  tell(outcome, text);
  outcome.className = isBad ? "bad" : "";
}

export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    say(error.message, true);
  }
}
