// Limits of memory. The page drops a message with all its deliveries, since a part would look complete.
const most = { entries: 10_000, characters: 16 << 20, told: 50 };

export class Log {
  /** Oldest first. Delivery events of a known message are in `messages` only. */
  entries = [];
  /** By pushMessageID, oldest first. */
  messages = new Map();
  /** The last delivery events, by receiver, oldest first. */
  told = new Map();
  /** Number of older events that this page or the emulator has dropped. */
  forgotten = 0;

  get lack() {
    return this.forgotten
      ? "Its request is not kept any more."
      : "Its request is not answered yet, or was sent before anybody looked.";
  }
  /** By installation: the transport, `false` for offline, `null` for unknown. */
  online = new Map();
  state = "connecting";
  #changed;
  #size = 0;
  #last = 0;
  #start = null;
  #source = null;

  /** Calls `changed(entry)` for each event, and `changed()` for any other change. */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Reads only while the page is visible: a browser has six connections to a host for all its tabs. */
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
        // A reconnected stream may repeat events.
        if (sequence <= this.#last) return;
        this.#last = sequence;
        // The entry omits the parsed bodies: the JSON text is exact.
        const { body, answer, ...entry } = JSON.parse(data);
        this.#keep({ ...entry, sequence }, data);
      });
    }
    source.addEventListener("error", () => {
      this.state = "down";
      this.#changed();
      // The browser reconnects by itself, except after an error status.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => document.hidden || this.#open(), 2000);
    });
  }

  #greet({ start, app, root }) {
    // A restarted emulator has other events and another token, so the page reloads.
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

  /** Adds a delivery event to its message. Returns the entry that is dropped together with this event. */
  #deliver(entry) {
    const message = this.#message(entry.message, entry, entry.push);
    message.deliveries.push(entry);
    return message.root;
  }

  /** Adds `entry` to the message `id`. The first entry creates the message; both are dropped together. */
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

  /** `since`: the last entry when `installations` were requested. Later entries are newer than `installations`. */
  learn(installations, since) {
    this.online = new Map(installations.map((one) => [one.installationID, one.online && one.transport]));
    for (const entry of this.entries.slice(this.entries.indexOf(since) + 1)) {
      this.#note(entry);
    }
  }
}
