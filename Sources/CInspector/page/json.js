// Works on JSON text, which keeps big numbers, repeated keys and the order of members.

const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+)/y;

function* tokens(text) {
  const scanner = new RegExp(token);
  for (let match; (match = scanner.exec(text)); ) yield match[1];
}

const opens = (part) => part === "{" || part === "[";
const closes = (part) => part === "}" || part === "]";

export const compact = (text) => [...tokens(text)].join("");

export function pretty(text) {
  let [out, depth, before] = ["", 0, ""];
  for (const part of tokens(text)) {
    if (closes(part)) depth -= 1;
    if (closes(part) ? !opens(before) : opens(before) || before === ",") out += `\n${"  ".repeat(Math.min(depth, 40))}`;
    out += part === ":" ? ": " : part;
    if (opens(part)) depth += 1;
    before = part;
  }
  return out;
}

/** Returns `[key, text]` for each member of an object; `key` is undefined for an array. */
export function members(text) {
  const found = [];
  let [depth, key, parts] = [0, undefined, []];
  for (const part of tokens(text)) {
    if (closes(part)) depth -= 1;
    if ((depth === 0 && closes(part)) || (depth === 1 && part === ",")) {
      if (parts.length) found.push([key, parts.join("")]);
      [key, parts] = [undefined, []];
    } else if (depth === 1 && part === ":") {
      [key, parts] = [JSON.parse(parts.join("")), []];
    } else if (depth > 0) {
      parts.push(part);
    }
    if (opens(part)) depth += 1;
  }
  return found;
}

/** Text of the member at the path `names`. The last of repeated keys counts, as in JSON.parse. */
export const member = (text, ...names) =>
  names.reduce((found, name) => found && members(found).findLast(([key]) => key === name)?.[1], text);

/** The reason why `text` cannot be sent, or `null`. `isWhole`: `text` is a whole message, not its data only. */
export function problem(text, isWhole) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error.message;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return 'write an object: {"msg":"hi"}';
  const parts = members(text);
  const twice = parts.find(([key], index) => parts.findIndex(([other]) => other === key) < index);
  if (twice) return `${twice[0]} is there twice`;
  if (isWhole) return "data" in value ? problem(member(text, "data"), false) : null;
  const nested = parts.find(([, raw]) => opens(raw[0]));
  return nested ? `${nested[0]} is nested, and data has to be flat` : null;
}
