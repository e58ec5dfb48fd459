// What happened at the emulator, as it tells it, and which messages that was about.

// The page drops a message whole, with all its deliveries: people would take a part of it for the whole.
const most = { entries: 10_000, characters: 16 << 20, told: 50 };

export class Log {
  /** Oldest first. What is told of a message that is here already is kept with that, and is none. */
  entries = [];
  /** By pushMessageID, oldest first. */
  messages = new Map();
  /** By receiver, what it told last, oldest first. */
  told = new Map();
  /** How many older ones are not kept any more, here or at the emulator. */
  forgotten = 0;

  /** Why a message is here without its request. */
  get lack() {
    return this.forgotten
      ? "Its request is not kept any more."
      : "Its request is not answered yet, or was sent before anybody looked.";
  }
  /** By installation: the transport, `false` or, where it is not known, `null`. */
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
    source.addEventListener("gap", ({ data }) => this.#miss({ event: "gap", ...JSON.parse(data) }, data));
    for (const kind of ["request", "connection", "websocket", "delivery", "missed"]) {
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

  #miss(gap, raw) {
    if (this.entries.length) return this.#keep(gap, raw);
    this.forgotten += gap.missed;
    this.#changed();
  }

  #keep(entry, raw) {
    entry.key = entry.event === "gap" ? `gap-${this.#last}` : String(entry.sequence);
    entry.time = Date.parse(entry.at);
    Object.assign(entry, { messages: [], size: 0, count: 0 });
    let root = entry;
    if (entry.event === "delivery") {
      this.#tell(entry);
      if (!entry.message) return this.#changed(entry);
      root = this.#deliver(entry);
    } else {
      entry.raw = raw;
    }
    this.#note(entry);
    for (const { id, ...label } of entry.sent ?? []) this.#message(id, entry, label).request = entry;
    if (root === entry) this.entries.push(entry);
    root.size += raw.length;
    root.count += 1;
    this.#size += raw.length;
    while (this.entries.length > most.entries || this.#size > most.characters) this.#drop(this.entries.shift());
    this.#changed(entry);
  }

  #note({ event, installation, online, transport }) {
    if (event === "connection") this.online.set(installation, online && transport);
  }

  #tell(entry) {
    const told = this.told.get(entry.receiver) ?? [];
    this.told.set(entry.receiver, told);
    told.push(entry);
    if (told.length > most.told) told.shift();
  }

  /** Returns the entry that `entry` is kept and forgotten with. */
  #deliver(entry) {
    const message = this.#message(entry.message, entry, entry.push);
    message.deliveries.push(entry);
    return message.root;
  }

  /** `entry`: what tells of it, and keeps it where it is the first to do so. */
  #message(id, entry, label) {
    let message = this.messages.get(id);
    if (!message) {
      message = { key: id, root: entry, request: null, deliveries: [], changes: 0 };
      this.messages.set(id, message);
    }
    entry.messages.push(Object.assign(message, label));
    message.changes += 1;
    return message;
  }

  #drop(entry) {
    this.#size -= entry.size;
    this.forgotten += entry.count;
    for (const message of entry.messages) if (message.root === entry) this.messages.delete(message.key);
  }

  /** Takes up who is online of `installations`, which were asked for when `since` was the last entry. */
  learn(installations, since) {
    this.online = new Map(installations.map((one) => [one.installationID, one.online && one.transport]));
    for (const entry of this.entries.slice(this.entries.indexOf(since) + 1)) {
      this.#note(entry);
    }
  }
}
