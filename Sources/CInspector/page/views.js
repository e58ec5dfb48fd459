// `item` begins the URL fragments of a tab's rows. If `mark` changes, the row's details are redrawn. Views with `load`
// reload after events for which `isMoved` is true.
import { ask, call, sendOf } from "./api.js";
import { copyButtons } from "./copy.js";
import { block, brief, button, clock, dim, el, facts, table } from "./dom.js";
import { member, members, pretty } from "./json.js";
import { decide, kindText, outcome, requestParts, sourceText } from "./message.js";
import { nameOf, sendButtons, sendTo } from "./sending.js";

/** A cell with shortened identifiers, and the whole text as tooltip. */
const what = (text, more = "") => ["what", [brief(text), more].filter(Boolean).join("  "), text];
const buttons = (...all) => el("p", { class: "buttons" }, all);
const link = (key) => el("a", { href: `#message/${encodeURIComponent(key)}` }, key);
export const missing = () => [dim("It is not there any more.")];

function requestCells(entry, log) {
  if (entry.event === "gap") return [["kind warn", "gap"], ["what", `${entry.missed} entries are missing here`]];
  const time = ["time", clock(entry.time)];
  if (entry.event === "missed") {
    return [time, ["kind warn", "missed"], ["what", `${entry.missed} events of ${entry.receiver} are missing here`]];
  }
  if (entry.event === "connection") {
    const whose = `${entry.owner}, installation ${entry.installation}`;
    return [time, ["kind", entry.online ? "online" : "offline"], what(whose), ["state dim", entry.transport]];
  }
  if (entry.event === "websocket") {
    return [time, [entry.fault ? "kind warn" : "kind", "websocket"], what(entry.reason), ["state dim", entry.transport]];
  }
  const { method, target, status, error_code: code, sent } = entry;
  const count = sent?.reduce((sum, { installations }) => sum + installations.length, 0);
  return [
    time, ["kind", method], what(target.startsWith(`${log.root}/`) ? target.slice(log.root.length) : target),
    [status < 400 ? "state ok" : "state bad", [status ?? "closed", code].filter(Boolean).join(" ")],
    ["count", sent ? `→ ${count}` : ""],
  ];
}

function canSend(request) {
  try {
    return Boolean(sendOf(request));
  } catch {
    return false;
  }
}

function requestDetail(entry) {
  if (entry.event === "gap") return [dim("More had happened than the emulator keeps, before it was read.")];
  if (entry.event !== "request") return [facts(Object.entries(JSON.parse(entry.raw)))];
  const request = () => entry;
  const isSend = canSend(entry);
  return [
    el("h2", {}, `${entry.method} ${entry.target}`),
    buttons(isSend ? sendButtons(request) : [], copyButtons(request, isSend ? undefined : ["curl"])),
    ...entry.messages.map(({ key }) => el("p", {}, "message ", link(key))),
    ...requestParts(entry),
  ];
}

function recent(log, name) {
  const rows = (log.told.get(name) ?? []).map(({ time, id, kind, attempt: count, detail, message }) => {
    const event = count ? `${kind} ${count}` : kind;
    return [clock(time, true), `#${id}`, event, detail ?? "", message ? link(message) : ""];
  });
  return table("What it told last", ["time", "number", "event", "detail", "message"], rows.reverse());
}

function receiverCells(row, log) {
  const isOnline = (installation) => log.online.get(installation);
  const online = (is) => (is ? ["state ok", `online, ${is}`] : ["state dim", "offline"]);
  if (!row.name) return [["word", row.deviceType], ["what", row.key], online(isOnline(row.key))];
  const state = row.isReachable ? online(row.installations.map(isOnline).find(Boolean)) : ["state bad", "does not answer"];
  return [["word", "receiver"], ["what", row.name], state, ["count", row.deadLetters ? `${row.deadLetters} dead` : ""]];
}

function receiverDetail({ key, ...row }, log) {
  if (!row.name) return [facts(Object.entries(row))];
  const list = el("div");
  const installations = row.installations.join(", ");
  const about = facts([["receiver", row.name], ["directory", row.stateDirectory], ["installations", installations]]);
  const all = el("div", {}, about, list);
  let seen = null;
  all.refresh = () => {
    const newest = log.told.get(row.name)?.at(-1);
    if (newest !== seen) list.replaceChildren(recent(log, row.name));
    seen = newest;
  };
  all.refresh();
  return [all];
}

function letterDetail({ receiver, id, reason, attempts, receivedAt, raw }, log) {
  const isIts = (entry) => entry.receiver === receiver && entry.id === id;
  const told = [...log.messages.values()].findLast(({ deliveries }) => deliveries.some(isIts));
  const payload = member(raw, "payload");
  return [
    el("h2", {}, `${receiver} #${id}`),
    buttons(button("Retry", decide(receiver, id, "retry")), button("Drop", decide(receiver, id, "drop"))),
    ...(told ? [el("p", {}, "message ", link(told.key))] : []),
    facts([["reason", reason], ["attempts", attempts], ["received", clock(receivedAt, true)]]),
    block(payload[0] === '"' ? JSON.parse(payload) : pretty(payload)),
  ];
}

function faultCells(row) {
  if (row.state) {
    const state = [row.state === "running" ? "state ok" : "state dim", row.state];
    return [["word", `line ${row.line}`], ["what", row.text], state, ["state warn", row.problem ?? ""]];
  }
  const what = row.disconnect ? "disconnect" : (row.status ?? `delay ${row.delay} s`);
  return [["word", row.method ?? "any"], ["what", row.path], ["state bad", what], ["count", `× ${row.times}`]];
}

const asked = (view) => ({
  items: [],
  rows() {
    return this.items;
  },
  find(key) {
    return this.items.find((row) => row.key === key);
  },
  text: (row) => JSON.stringify(row),
  mark: (row) => JSON.stringify(row ?? null),
  async load() {
    this.items = await this.ask();
  },
  ...view,
});

export const views = {
  requests: {
    item: "request",
    empty: "No requests yet.",
    rows(log, words) {
      const isShown = ({ event, control }) => event !== "delivery" && (!control || words.includes("control"));
      return log.entries.filter(isShown).reverse();
    },
    text: (entry) => entry.raw,
    status: (entry) => entry.status,
    cells: requestCells,
    find: (key, log) => log.entries.find((entry) => entry.key === key && entry.event !== "delivery"),
    mark: Boolean,
    detail: requestDetail,
  },
  messages: {
    item: "message",
    empty: "No messages yet. “Send…” sends one, and so does kii-push send.",
    rows: (log) => [...log.messages.values()].reverse(),
    text: (row) => [kindText(row.kind), row.source, row.key, outcome(row)[1], row.request?.raw].join(" "),
    status: (row) => row.request?.status,
    cells(row) {
      const [state, text] = outcome(row);
      const said = row.request ? member(row.request.raw, "body", "data") : null;
      const words = [["word", kindText(row.kind)], what(sourceText(row.source), said)];
      return [["time", clock(Date.parse(row.sent_at))], ...words, [`state ${state}`, text]];
    },
    // The emulator may have a message that the page has dropped.
    find: (key) => ({ key }),
    mark: Boolean,
    detail: ({ key }, log) => [document.createElement("kii-message").show(key, log)],
  },
  receivers: asked({
    item: "receiver",
    empty: "Nobody receives on this machine. “kii-push listen” does.",
    async ask() {
      const [{ receivers }, { installations }] = await Promise.all([ask("receivers"), ask("installations")]);
      const told = new Set(receivers.flatMap((receiver) => receiver.installations));
      const others = installations.filter(({ installationID }) => !told.has(installationID));
      return [
        ...receivers.map((row) => ({ key: row.name, ...row })),
        ...others.map((row) => ({ key: row.installationID, ...row })),
      ];
    },
    isMoved: ({ event, kind }) => event === "connection" || ["dead", "retried"].includes(kind),
    cells: receiverCells,
    detail: receiverDetail,
  }),
  topics: asked({
    item: "topic",
    empty: "No topics and no buckets yet.",
    async ask() {
      const lists = await Promise.all(["topics", "buckets", "subscriptions"].map(ask));
      const { topics, buckets, subscriptions } = Object.assign({}, ...lists);
      return [...topics, ...buckets].map((row) => {
        const [kind, name] = [row.topicID ? "topic" : "bucket", nameOf(row)];
        const own = subscriptions.filter((other) => `${kind}ID` in other && nameOf(other) === name);
        const subscribed = own.map(({ userID, thingID }) => (userID ? `user:${userID}` : `thing:${thingID}`));
        return { key: `${kind}:${name}`, kind, name, subscribed, ...row };
      });
    },
    isMoved: ({ event, control, method }) => event === "request" && !control && method !== "GET",
    cells: (row) => [["word", row.kind], what(row.name), ["count", `${row.subscribers} subscribed`]],
    detail: ({ kind, name, creator, objects, subscribed, acl }) => [
      el("h2", {}, `${kind} ${name}`),
      ...(kind === "topic" ? [buttons(button("Send to it…", () => sendTo(name)))] : []),
      facts([["creator", creator], ["objects", objects], ["subscribed", subscribed.join(", ") || "nobody"]]),
      ...(acl ? [el("h3", {}, "Rights"), block(pretty(JSON.stringify(acl)))] : []),
    ],
  }),
  "dead-letters": asked({
    item: "dead-letter",
    empty: "No receiver that runs on this machine has given up on a message.",
    async ask() {
      const letters = members(member(await call("GET", "/__kii/dead-letters"), "deadLetters"));
      return letters.map(([, raw]) => {
        const { payload, ...row } = JSON.parse(raw);
        return { key: `${row.receiver}/${row.id}`, ...row, raw };
      });
    },
    isMoved({ kind, receiver, id }) {
      const isListed = kind === "done" && this.find(`${receiver}/${id}`);
      return isListed || ["dead", "retried"].includes(kind);
    },
    cells: ({ receivedAt, receiver, id, reason, attempts }) => [
      ["time", clock(receivedAt)], ["word", receiver], ["what", `#${id} ${reason}`], ["count", attempts === 1 ? "1 attempt" : `${attempts} attempts`],
    ],
    detail: letterDetail,
  }),
  faults: asked({
    item: "fault",
    empty: "No faults.",
    async ask() {
      const { faults, steps = [] } = await ask("faults");
      const keyed = (row, index) => ({ key: row.id ?? `step ${index + 1}`, ...row });
      return [...faults.map(keyed), ...steps.map(keyed)];
    },
    isMoved: ({ event, control, method }) => event === "request" && (!control || method !== "GET"),
    isUnderWay: (rows) => rows.some(({ state }) => ["waiting", "running"].includes(state)),
    cells: faultCells,
    detail: ({ key, ...row }) => [block(pretty(JSON.stringify(row)))],
  }),
};
