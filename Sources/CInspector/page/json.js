// JSON as text: big numbers, repeated keys and the order of members stay as sent.

const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+)/y;

function* tokens(text) {
  const scanner = new RegExp(token);
  for (let match; (match = scanner.exec(text)); ) yield match[1];
}

const opens = (part) => part === "{" || part === "[";
const closes = (part) => part === "}" || part === "]";

export const compact = (text) => [...tokens(text)].join("");

/** One member a line. Very deep nesting is not indented further. */
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

/** The keys and texts of an object's members; for an array the texts of its elements, without keys. */
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

/** The text of a member, or of a member's member; the last one for a repeated key, as in parsers. */
export const member = (text, ...names) =>
  names.reduce((found, name) => found && members(found).findLast(([key]) => key === name)?.[1], text);

/** The reason why `text` cannot be sent; `null` if it can. */
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
