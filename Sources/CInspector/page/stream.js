// What happened at the emulator, as it tells it, and which messages that was about.

const most = { entries: 10_000, characters: 16 << 20 };

export class Log {
  /** Oldest first. */
  entries = [];
  /** By pushMessageID, oldest first. */
  messages = new Map();
  /** By installation. */
  online = new Map();
  state = "connecting";
  #changed;
  #size = 0;
  #last = 0;
  #start = null;
  #source = null;

  /** `changed` is told each entry, and nothing for another state. */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Reads while somebody sees the page: a browser has six connections to a host, for all its tabs. */
  start() {
    const follow = () => (document.hidden ? this.#source?.close() : this.#open());
    document.addEventListener("visibilitychange", follow);
    follow();
  }

  #open() {
    this.#source?.close();
    const source = (this.#source = new EventSource(`/__kii/events${this.#last ? `?after=${this.#last}` : ""}`));
    source.addEventListener("hello", ({ data }) => this.#greet(JSON.parse(data)));
    source.addEventListener("gap", ({ data }) => this.#keep({ event: "gap", ...JSON.parse(data) }, data));
    for (const kind of ["request", "connection", "delivery", "missed"]) {
      source.addEventListener(kind, ({ data, lastEventId }) => {
        const sequence = Number(lastEventId);
        // A stream that began twice tells entries twice.
        if (sequence <= this.#last) return;
        this.#last = sequence;
        // Bodies stay in the text, which is shorter and exact.
        const { body, answer, ...entry } = JSON.parse(data);
        this.#keep({ ...entry, sequence }, data);
      });
    }
    source.addEventListener("error", () => {
      this.state = "down";
      this.#changed();
      // The browser comes back by itself, except after a refusal.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => document.hidden || this.#open(), 2000);
    });
  }

  #greet({ start, app, root }) {
    // Another start has other entries and another token: the page begins anew with both.
    if (this.#start !== null && this.#start !== start) return location.reload();
    this.#start = start;
    Object.assign(this, { app, root, state: "live" });
    this.#changed();
  }

  #keep(entry, raw) {
    entry.key = entry.event === "gap" ? `gap-${this.#last}` : String(entry.sequence);
    entry.raw = raw;
    entry.time = Date.parse(entry.at);
    const sent = entry.sent ?? [];
    entry.messages = sent.map(({ id, ...rest }) => Object.assign(this.#message(id), rest, { request: entry }));
    if (entry.event === "delivery" && entry.message) {
      const message = this.#message(entry.message);
      message.deliveries.push(entry);
      entry.messages.push(message);
    }
    if (entry.event === "connection") this.online.set(entry.installation, entry.online);
    this.entries.push(entry);
    this.#size += raw.length;
    while (this.entries.length > most.entries || this.#size > most.characters) this.#drop(this.entries.shift());
    this.#changed(entry);
  }

  #message(id) {
    const message = this.messages.get(id) ?? { key: id, request: null, installations: [], deliveries: [], changes: 0 };
    this.messages.set(id, message);
    message.changes += 1;
    return message;
  }

  #drop(entry) {
    this.#size -= entry.raw.length;
    for (const message of entry.messages) {
      if (message.request === entry) message.request = null;
      else message.deliveries.shift();
      if (!message.request && !message.deliveries.length) this.messages.delete(message.key);
    }
  }

  /** Takes up who is online of `installations`, which were asked for when `since` was the last entry. */
  learn(installations, since) {
    this.online = new Map(installations.map(({ installationID, online }) => [installationID, online]));
    for (const entry of this.entries.slice(this.entries.indexOf(since) + 1)) {
      if (entry.event === "connection") this.online.set(entry.installation, entry.online);
    }
  }
}
