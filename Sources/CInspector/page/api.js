import { member } from "./json.js";

const token = document.querySelector('meta[name="kii-token"]').content;
export const sendType = "application/vnd.kii.SendPushMessageRequest+json";

/** Asks the emulator as the app's administrator. Returns the answer's text; throws where it is a refusal. */
export async function call(method, path, body, type = "application/json") {
  const headers = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "Content-Type": type }) };
  const response = await fetch(location.origin + path, { method, body, headers });
  const text = await response.text();
  if (response.ok) return text;
  let refusal = {};
  try {
    refusal = JSON.parse(text);
  } catch {
    // Not the emulator's words; the status says enough.
  }
  throw new Error([response.status, refusal.errorCode, refusal.message].filter(Boolean).join(" "));
}

export const ask = async (path) => JSON.parse(await call("GET", `/__kii/${path}`));

/** Path and body of a request that sent a message by hand; `null` for another request, and where its body was cut. */
export function sendOf(request) {
  if (request?.method !== "POST") return null;
  const path = request.target.split("?")[0].replace(/\/{2,}/g, "/").replace(/\/$/, "");
  const body = member(request.raw, "body");
  // A target may be the URL of another host, which must not get the token.
  return /^\/api\/.*\/push\/messages$/.test(path) && body?.startsWith("{") ? { path, body } : null;
}

/** Whom a path sends to, in the words of kii-push: `topic` and `user:ID/todo`, or `user` and `ID`. */
export function targetOf(path) {
  const steps = path.split("/").slice(4, -2).map(decodeURIComponent);
  const [where, name] = steps.splice(-2);
  if (where === "users") return { kind: "user", name };
  return { kind: "topic", name: steps.length ? `${steps[0].replace(/s$/, "")}:${steps[1]}/${name}` : name };
}

/** A topic's name in its parts; without an owner it is the app's. */
export function partsOf(name) {
  const [, owner, id, topic] = /^(?:([a-z]+):([^/]+)\/)?(.*)$/.exec(name);
  return { owner, id, topic };
}

export function pathOf({ kind, name }, root) {
  const { owner, id, topic } = partsOf(name);
  const steps = kind === "user" ? ["users", name] : [...(owner ? [`${owner}s`, id] : []), "topics", topic];
  return `${root}/${steps.map(encodeURIComponent).join("/")}/push/messages`;
}
