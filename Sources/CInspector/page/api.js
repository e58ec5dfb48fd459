import { member } from "./json.js";

const token = document.querySelector('meta[name="kii-token"]').content;
export const sendType = "application/vnd.kii.SendPushMessageRequest+json";

/** Returns the URL of `target`. Throws if the browser would change `target`, for example resolve `..` or cut at `#`. */
export function exact(target) {
  const url = location.origin + target;
  if (!target.startsWith("/") || target.includes("#") || new URL(url).href !== url) {
    throw new Error(`A browser cannot ask for ${target} byte by byte.`);
  }
  return url;
}

/** Calls the emulator as the app's administrator, and returns the body. Throws on an error status. */
export async function call(method, path, body, type = "application/json") {
  const headers = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "Content-Type": type }) };
  const response = await fetch(exact(path), { method, body, headers });
  const text = await response.text();
  if (response.ok) return text;
  let refusal = {};
  try {
    refusal = JSON.parse(text);
  } catch {
    // Not JSON: the error has the status only.
  }
  throw new Error([response.status, refusal.errorCode, refusal.message].filter(Boolean).join(" "));
}

export const ask = async (path) => JSON.parse(await call("GET", `/__kii/${path}`));

/** Returns target and body of a recorded request that sent a message. Throws if the request cannot be repeated. */
export function sendOf({ event, method, target, raw }) {
  // A target may be the URL of another host, which must not get the token.
  const isSend = method === "POST" && /^\/+api\/+apps\/.*\/push\/+messages\/*$/.test(target.split("?")[0]);
  if (event !== "request" || !isSend) throw new Error("No message was sent by hand with it.");
  exact(target);
  const body = member(raw, "body");
  if (!body?.startsWith("{")) throw new Error("Its body was too long to be kept, or is no JSON.");
  return { target, body };
}

/** Recipient of a target: kind `topic` with a name such as `user:ID/todo`, or kind `user` with an ID. */
export function destinationOf(target) {
  // Kii's JavaScript SDK sends double and trailing slashes.
  const steps = target.split("?")[0].split("/").filter(Boolean).slice(3, -2).map(decodeURIComponent);
  const [where, name] = steps.splice(-2);
  if (where === "users") return { kind: "user", name };
  return { kind: "topic", name: steps.length ? `${steps[0].replace(/s$/, "")}:${steps[1]}/${name}` : name };
}

/** A topic of the app has no owner. */
export function partsOf(name) {
  const [, owner, id, topic] = /^(?:([a-z]+):([^/]+)\/)?(.*)$/.exec(name);
  return { owner, id, topic };
}

export function pathOf({ kind, name }, root) {
  const { owner, id, topic } = partsOf(name);
  const steps = kind === "user" ? ["users", name] : [...(owner ? [`${owner}s`, id] : []), "topics", topic];
  return `${root}/${steps.map(encodeURIComponent).join("/")}/push/messages`;
}
