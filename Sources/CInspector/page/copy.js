import { destinationOf, partsOf, sendOf, sendType } from "./api.js";
import { button, say, unseen } from "./dom.js";
import { compact, member, members } from "./json.js";

// Escapes keep invisible characters out of terminals and editors.
const hex = (value, width) => value.toString(16).padStart(width, "0");
const jsonEscapes = (run) => run.split("").map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join("");
const swiftEscapes = (run) => [...run].map((one) => `\\u{${hex(one.codePointAt(0), 1)}}`).join("");
const quoted = (text) => (/^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const quotedJSON = (raw) => quoted(compact(raw).replace(unseen, jsonEscapes));
const swiftText = (text) => `"${text.replace(/["\\]/g, "\\$&").replace(unseen, swiftEscapes)}"`;

function swiftValue(raw) {
  if (raw[0] === '"') return swiftText(JSON.parse(raw));
  if (raw === "null") return "nil";
  if (!/^[{[]/.test(raw)) return raw;
  const parts = members(raw).map(([key, value]) => (raw[0] === "{" ? `${swiftText(key)}: ` : "") + swiftValue(value));
  return `[${parts.join(", ") || (raw[0] === "{" ? ":" : "")}]`;
}

const networksOf = (body) =>
  ["mqtt", "gcm", "fcm", "apns", "jpush"].filter((network) => member(body, network, "enabled") === "true");

function curl({ method, target, raw }) {
  const body = member(raw, "body");
  if (body && !/^[{[]/.test(body)) throw new Error("Its body was too long to be kept, or is no JSON.");
  // A target may be the URL of another host, which must not get the token.
  if (!target.startsWith("/") || /[#\p{Cc}]/u.test(target)) throw new Error(`curl cannot ask for ${target}.`);
  const url = location.origin + encodeURI(target).replaceAll("%25", "%");
  const hasDots = /\/(\.|%2e){1,2}(\/|$)/i.test(target.split("?")[0]);
  const words = [
    `curl -sS${hasDots ? " --path-as-is" : ""} -X ${quoted(method)} ${quoted(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  const type = `Content-Type: ${/\/push\/+messages\/*$/.test(target) ? sendType : "application/json"}`;
  return [...words, ...(body ? [`-H ${quoted(type)}`, `-d ${quotedJSON(body)}`] : [])].join(" \\\n  ");
}

function swift(request) {
  const { target: sentTo, body } = sendOf(request);
  const { kind, name } = destinationOf(sentTo);
  const { owner, id, topic } = partsOf(name);
  const where = swiftText(topic) + (owner ? `, in: .${owner}(${swiftText(id)})` : "");
  const target = kind === "user" ? `.user(${swiftText(name)})` : `.topic(Topic(${where}))`;
  const [data, own, networks] = [member(body, "data"), member(body, "mqtt", "data"), networksOf(body)];
  const parts = data ? [`data: ${swiftValue(data)}`] : [];
  if (!networks.includes("mqtt")) parts.push("mqtt: nil");
  else if (own) parts.push(`mqtt: .init(data: ${swiftValue(own)})`);
  const others = networks.filter((network) => network !== "mqtt").join(", ");
  const note = others && `// Without what is for ${others} alone.\n`;
  return `${note}try await session.send(PushMessage(${parts.join(", ")}), to: ${target})`;
}

function kiiPush(request) {
  const { target, body } = sendOf(request);
  const { kind, name } = destinationOf(target);
  if (name.search(unseen) >= 0) throw new Error("The name has characters that nobody can see.");
  const data = member(body, "data");
  const words = `kii-push send ${kind} ${quoted(name)}`;
  const isPlain = members(body).every(([key, value]) => key === "data" || (key === "mqtt" && value === '{"enabled":true}'));
  if (data && isPlain) return `${words} --data ${quotedJSON(data)}`;
  return `printf %s ${quotedJSON(body)} | ${words} --message -`;
}

const forms = { curl, Swift: swift, "kii-push": kiiPush };

/** The forms Swift and kii-push need a request that sent a message. */
export const copyButtons = (request, names = Object.keys(forms)) =>
  names.map((name) =>
    button(`Copy as ${name}`, async () => {
      try {
        await navigator.clipboard.writeText(forms[name](request()));
        say(`Copied as ${name}.`);
      } catch (error) {
        say(`Not copied. ${error.message}`, true);
      }
    }),
  );
