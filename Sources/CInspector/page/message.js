import { ask, call } from "./api.js";
import { copyButtons } from "./copy.js";
import { attempt, block, button, clock, dim, el, facts, say, table, tabs, tell } from "./dom.js";
import { compact, member, members, pretty } from "./json.js";
import { sendButtons } from "./sending.js";

/** Delivery events that end an attempt, with their CSS classes. */
const verdicts = {
  done: "ok", unreached: "warn", setAside: "warn", dismissed: "warn", presented: "warn", late: "warn", stuck: "warn",
  failed: "bad", handedBack: "bad", dead: "bad",
};
const mostReceivers = 100;

export const kindText = (kind) => kind?.toLowerCase().replaceAll("_", "-") ?? "message";

export const sourceText = (source) => source?.replace("kiicloud://", "") ?? "";

/** Delivery events of a message, by receiver and attempt. */
export function receivers(message) {
  const found = new Map();
  for (const entry of message.deliveries) {
    const { receiver: name, installation, id } = entry;
    const key = `${name}/${installation}`;
    const receiver = found.get(key) ?? { name, installation, id, attempts: [{}] };
    found.set(key, receiver);
    const isStart = entry.kind === "started";
    if (!isStart && !(entry.kind in verdicts)) {
      receiver[entry.kind] ??= entry;
      continue;
    }
    let last = receiver.attempts.at(-1);
    if (last.verdict || (isStart && last.start)) receiver.attempts.push((last = {}));
    last[isStart ? "start" : "verdict"] = entry;
  }
  return [...found.values()];
}

const span = (milliseconds) => {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  return milliseconds < 120_000 ? `${Math.round(milliseconds / 1000)} s` : `${Math.round(milliseconds / 60_000)} min`;
};

const verdictText = ({ kind, detail, pause_ms: pause }) =>
  [kind === "done" ? (detail ?? "done") : kind + (detail ? `: ${detail}` : ""), pause && `again after ${span(pause)}`]
    .filter(Boolean).join("; ");

/** A click listener. `action`: `retry` or `drop`. */
export const decide = (receiver, id, action) => () =>
  attempt(async () => {
    const path = `/__kii/dead-letters/${encodeURIComponent(receiver)}/${id}/${action}`;
    const { outcome: done } = JSON.parse(await call("POST", path));
    const words = {
      retried: "It is tried again.", dropped: "It is removed for good.",
      running: "Its handler runs: nothing was changed.", notFound: "The receiver does not have it any more.",
    };
    say(words[done], !["retried", "dropped"].includes(done));
    dispatchEvent(new Event("reload"));
  });

/** Returns a CSS class and a summary such as `newData 2, failed 1`. */
export function outcome(message) {
  const counts = new Map();
  for (const { attempts } of receivers(message)) {
    const verdict = attempts.at(-1).verdict ?? attempts.at(-2)?.verdict;
    const word = verdict ? (verdict.kind === "done" ? (verdict.detail ?? "done") : verdict.kind) : "under way";
    const [count, state] = counts.get(word) ?? [0, verdicts[verdict?.kind] ?? "dim"];
    counts.set(word, [count + 1, state]);
  }
  const states = [...counts.values()].map(([, state]) => state);
  const text = [...counts].map(([word, [count]]) => (count > 1 ? `${word} ${count}` : word)).join(", ");
  const worst = ["bad", "warn", "dim", "ok"].find((state) => states.includes(state)) ?? "dim";
  return [worst, text || `→ ${message.installations.length || "nobody"}`];
}

function again({ name, id, attempts }, index) {
  const { verdict } = attempts[index];
  const isOpen = index === attempts.length - 1 && (verdict?.kind === "dead" || verdict?.pause_ms);
  return isOpen ? button("Retry", decide(name, id, "retry")) : "";
}

/** `silence`: the text for an installation without delivery events. `records`: times of events, by `receiver/ID`. */
function timeline(message, silence, records) {
  const { request } = message;
  const start = new Date(message.sent_at).getTime();
  const offset = (entry) => (entry ? String(entry.time - start) : "–");
  const recorded = ({ name, id }, kind) => offset(records.get(`${name}/${id}`)?.[kind]);
  const broker = request?.status < 300 ? offset(request) : "–";
  const told = receivers(message);
  const rows = told.slice(0, mostReceivers).flatMap((receiver) => {
    // `attempt` restarts at 1 for a retried dead letter; the table counts on.
    let number = 0;
    return receiver.attempts.map(({ start: begun, verdict }, index) => [
      index ? "" : (receiver.name ?? receiver.installation),
      String((number = Math.max((begun ?? verdict)?.attempt ?? 0, number + 1))),
      verdict ? [verdicts[verdict.kind], [`${offset(verdict)} ${verdictText(verdict)}`, again(receiver, index)]] : "–",
      ...(index ? ["", "", ""] : [broker, recorded(receiver, "stored"), recorded(receiver, "acknowledged")]),
      offset(begun),
    ]);
  });
  const known = new Set(told.map(({ installation }) => installation));
  const silent = message.installations.filter((installation) => !known.has(installation));
  for (const installation of silent.slice(0, mostReceivers)) {
    rows.push([installation, "", ["dim", silence], broker, "–", "–", "–"]);
  }
  if (!rows.length) return [];
  const titles = ["receiver", "try", "verdict", "broker", "stored", "ack", "handler"];
  const isCut = Math.max(told.length, silent.length) > mostReceivers;
  return [
    table("Receivers, in milliseconds from the send", titles, rows),
    dim(isCut ? `Of ${told.length + silent.length} only some are shown.` : ""),
  ];
}

export function requestParts(request) {
  const body = (text) => block(/^[{[]/.test(text) ? pretty(text) : JSON.parse(text));
  const part = (title, text) => (text ? [el("h3", {}, title), body(text)] : []);
  return [
    facts([
      ["request", `${request.method} ${request.target}`], ["by", request.caller],
      ["answer", `${request.status ?? "closed"} ${request.error_code ?? ""} after ${request.elapsed_ms} ms`],
      ["at", clock(request.time, true)],
    ]),
    ...part("Body", member(request.raw, "body")),
    ...part("Answer", member(request.raw, "answer")),
  ];
}

/** `text`: JSON output of `kii-push explain`, or null for a payload that is not JSON. */
function explanation(text) {
  const { kind, decided_by: decision, keys, keys_because: reason, bytes } = JSON.parse(text) ?? {};
  if (!kind) return [];
  const parts = [["fields"], ["aps", "keys"], ["custom"], ["ignored"]].map((names) => {
    const rows = members(member(text, ...names) ?? "").map(([, raw]) => {
      const { pointer, meaning, reading, because } = JSON.parse(raw);
      return [pointer, member(raw, "value") ?? "", [meaning ?? because, reading].filter(Boolean).join(" ")];
    });
    return rows.length ? [table(names[0], ["where", "value", "meaning"], rows)] : [];
  });
  const told = [["kind", kind], ["because", decision?.because], ["keys", `${keys}: ${reason}`], ["bytes", bytes]];
  return [facts(told), ...parts.flat()];
}

class KiiMessage extends HTMLElement {
  #log;
  #key;
  /** Answers of the emulator: `{ text }` or `{ error }`; `null` while they are loaded. */
  #record = null;
  #explained = null;
  /** Times of a receiver's events by kind, by `receiver/ID`. */
  #records = new Map();
  #part = "explain";
  #seen = "";
  #head = el("h2");
  #body = el("div", { role: "tabpanel", "aria-label": "Part of the message" });
  #times = el("div", { class: "times", role: "group", "aria-label": "Receivers", tabindex: "0" });
  #mark;

  show(key, log) {
    [this.#key, this.#log] = [key, log];
    const names = { mqtt: "MQTT", apns: "APNs", google: "GCM/FCM", jpush: "JPush" };
    const row = el("div", { role: "tablist", "aria-label": "Parts of the message" },
      ["explain", "raw", "mqtt", "apns", "google", "jpush", "request"].map((name) =>
        el("button", { role: "tab", type: "button", "data-name": name }, names[name] ?? name)));
    this.#mark = tabs(row, (name) => this.#choose(name));
    const request = () => {
      const found = this.#message?.request;
      if (!found) throw new Error(this.#log.lack);
      return found;
    };
    this.replaceChildren(
      this.#head, el("p", { class: "buttons" }, sendButtons(request), copyButtons(request)),
      this.#times, row, this.#body);
    this.refresh();
    this.#choose("explain");
    this.#fetch();
    return this;
  }

  get #message() {
    return this.#log.messages.get(this.#key);
  }

  /** Does not redraw the chosen part, which a person may be reading. */
  refresh() {
    const { lack } = this.#log;
    const seen = `${this.#message?.changes} ${this.#record !== null} ${lack}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    const { kind, source, sentAt, installations } = JSON.parse(this.#record?.text ?? "{}");
    const known = { kind, source, sent_at: sentAt, installations: Object.values(installations ?? {}).flat() };
    const message = { ...known, deliveries: [], request: null, ...this.#message };
    tell(this.#head, [kindText(message.kind), sourceText(message.source), this.#key].filter(Boolean).join(" · "));
    const [isKept, isWhole] = [message.request !== null, message.kind !== undefined];
    const silence = isKept ? "as far as the broker knows" : this.#log.forgotten ? "not kept any more" : "not known";
    const times = timeline(message, silence, this.#records);
    if (!times.length) times.push(dim(isWhole ? "It went to nobody." : this.#record ? `What became of it is ${silence}.` : "…"));
    this.#times.replaceChildren(...times, dim(isKept || !this.#record ? "" : lack));
    this.#learn(receivers(message).slice(0, mostReceivers));
  }

  /** Loads the times at which receivers stored and acknowledged the message. The stream lacks these times. */
  async #learn(told) {
    for (const { name, id } of told.filter(({ attempts }) => attempts[0].verdict)) {
      const key = `${name}/${id}`;
      if (this.#records.has(key)) continue;
      this.#records.set(key, {});
      const path = `receivers/${encodeURIComponent(name)}/messages/${id}`;
      let times = {};
      // A receiver records these times a moment after it reports the verdict. At QoS 0 it acknowledges nothing.
      for (let tries = 0; tries < 5 && !times.acknowledged; tries += 1) {
        if (tries) await new Promise((resume) => setTimeout(resume, 200));
        const { events } = await ask(path).catch(() => ({ events: [] }));
        times = Object.fromEntries(events.map(({ kind, at }) => [kind, { time: Date.parse(at) }]));
      }
      this.#records.set(key, times);
      this.#seen = "";
      this.refresh();
    }
  }

  async #fetch() {
    const path = `/__kii/messages/${encodeURIComponent(this.#key)}`;
    const get = (path) => call("GET", path).then((text) => ({ text }), ({ message: error }) => ({ error }));
    [this.#record, this.#explained] = await Promise.all([get(path), get(`${path}/explain`)]);
    this.refresh();
    this.#choose(this.#part);
  }

  #choose(part) {
    this.#part = part;
    this.#mark(part);
    this.#body.replaceChildren(...this.#content(part));
  }

  #content(part) {
    if (part === "request") {
      const request = this.#message?.request;
      return request ? requestParts(request) : [dim(this.#log.lack)];
    }
    const source = part === "explain" ? this.#explained : this.#record;
    if (!source) return [dim("…")];
    if (source.error) return [el("p", { class: "bad" }, source.error)];
    if (part === "explain") return this.#explanation(source.text);
    const networks = { raw: ["mqtt"], google: ["gcm", "fcm"] }[part] ?? [part];
    const found = members(member(source.text, "renderings")).filter(([network]) => networks.includes(network));
    if (!found.length) return [dim("Nothing was written for this network.")];
    const write = part === "raw" ? compact : pretty;
    return found.flatMap(([network, text]) => [el("h3", {}, network), block(write(text))]);
  }

  #explanation(text) {
    const { findings = [] } = JSON.parse(text);
    const states = { error: "bad", warning: "warn" };
    const rows = findings.map((one) => [[states[one.severity] ?? "dim", one.severity], one.pointer, one.text]);
    const titles = ["severity", "where", "what"];
    const told = rows.length ? table("Findings", titles, rows) : dim("Nothing is wrong with the payload.");
    return [told, ...explanation(member(text, "message"))];
  }
}

customElements.define("kii-message", KiiMessage);
