import { ask, call } from "./api.js";
import { attempt, say, tabs } from "./dom.js";
import { startFaulting } from "./faulting.js";
import "./list.js";
import { startSending } from "./sending.js";
import { Log } from "./stream.js";
import { missing, views } from "./views.js";

const [list, detail, filter, pause] = ["list", "detail", "filter", "pause"].map((id) => document.getElementById(id));
let place = { tab: "requests", key: null };
let [words, listed] = [[], []];
/** Cached results of the filter, by row. */
let met = new WeakMap();
let [isPaused, isStale, isLoading, frame] = [false, false, false, 0];
let [told, poll, loadedAt] = ["", null, 0];

const log = new Log((entry) => {
  if (!entry && log.state === "live") countOnline();
  if (entry && views[place.tab].isMoved?.(entry)) isStale = true;
  draw();
});

/** Loads which installations are online. The event stream reports only changes. */
async function countOnline() {
  const since = log.entries.at(-1);
  await attempt(async () => log.learn((await ask("installations")).installations, since));
  draw();
}

function isMet(row, view) {
  if (!words.length) return true;
  let answer = met.get(row);
  if (answer?.changes !== row.changes || !answer) {
    const [text, status] = [view.text(row).toLowerCase(), String(view.status?.(row) ?? "")];
    const is = words.every((word) => (/^[1-5]xx$/.test(word) ? status.startsWith(word[0]) : text.includes(word)));
    met.set(row, (answer = { changes: row.changes, is }));
  }
  return answer.is;
}

/** Whether the list is paused. A tab that loads its rows cannot be paused. */
const isHeld = () => isPaused && !views[place.tab].load;

function draw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    drawHead();
    if (!isHeld()) drawList(true);
    drawDetail();
    if (isStale) loadLater();
  });
}

function drawHead() {
  const online = [...log.online.values()];
  const state = { live: "stream live", down: "stream down, reconnecting", connecting: "connecting" }[log.state];
  const count = online.includes(null) ? "online unknown" : `${online.filter(Boolean).length} online`;
  const stream = isPaused ? `${state}, list paused` : state;
  for (const [id, text] of Object.entries({ app: `${log.app ?? ""} · ${location.host}`, stream, online: count })) {
    const element = document.getElementById(id);
    if (element.textContent !== text) element.textContent = text;
  }
  document.getElementById("stream").className = log.state === "live" ? "ok" : "bad";
}

function drawList(isFresh) {
  const view = views[place.tab];
  if (isFresh) listed = view.rows(log, words);
  const rows = listed.filter((row) => isMet(row, view));
  list.show(rows, place.key);
  const empty = words.length ? "Nothing matches the filter." : view.empty;
  document.getElementById("empty").textContent = rows.length ? "" : empty;
  const older = log.forgotten === 1 ? "1 older entry is" : `${log.forgotten} older entries are`;
  document.getElementById("missing").textContent = view.load || !log.forgotten ? "" : `${older} not kept any more.`;
}

function drawDetail() {
  const view = views[place.tab];
  const row = place.key === null ? null : view.find(place.key, log);
  const telling = `${place.tab} ${place.key} ${view.mark(row)}`;
  if (telling === told) return detail.firstElementChild?.refresh?.();
  told = telling;
  detail.replaceChildren(...(row ? view.detail(row, log) : place.key === null ? [] : missing()));
}

async function load() {
  const view = views[place.tab];
  isStale = Boolean(view.load) && isLoading;
  if (!view.load || isLoading) return;
  [isLoading, loadedAt] = [true, performance.now()];
  await attempt(() => view.load());
  isLoading = false;
  draw();
  // A fault script sends no events, so a running script is polled.
  if (view.isUnderWay?.(view.items) && view === views[place.tab]) loadLater();
}

/** Reloads at most once a second. */
function loadLater() {
  clearTimeout(poll);
  poll = setTimeout(load, Math.max(0, loadedAt + 1000 - performance.now()));
}

function go() {
  const [word, ...rest] = location.hash.slice(1).split("/");
  const tab = Object.keys(views).find((name) => name === word || views[name].item === word) ?? "requests";
  let key = null;
  try {
    if (rest.length) key = decodeURIComponent(rest.join("/"));
  } catch {
    // An invalid address shows the list.
  }
  const isOther = tab !== place.tab;
  if (isOther) {
    setFilter("");
    list.scrollTop = 0;
  }
  place = { tab, key };
  markTab(tab);
  document.getElementById("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  document.getElementById("faulting").hidden = tab !== "faults";
  list.setAttribute("aria-label", document.getElementById(`tab-${tab}`).textContent);
  list.cells = (row) => views[tab].cells(row, log);
  drawList(isOther || !isHeld());
  load();
  draw();
}

function setFilter(text) {
  if (filter.value !== text) filter.value = text;
  words = text.toLowerCase().split(/\s+/).filter(Boolean);
  met = new WeakMap();
}

function close() {
  if (document.activeElement === filter) setFilter("");
  else if (place.key !== null) location.hash = place.tab;
  drawList(!isHeld());
  list.focus();
}

const markTab = tabs(document.getElementById("tabs"), (name) => (location.hash = name));
list.addEventListener("choose", ({ detail: key }) => {
  location.hash = `${views[place.tab].item}/${encodeURIComponent(key)}`;
});
filter.addEventListener("input", () => {
  setFilter(filter.value);
  drawList(!isHeld());
});
pause.addEventListener("click", () => {
  isPaused = !isPaused;
  pause.setAttribute("aria-pressed", String(isPaused));
  pause.textContent = isPaused ? "Resume" : "Pause";
  draw();
});
document.getElementById("reset").addEventListener("click", () =>
  attempt(async () => {
    if (!confirm("Forget all users, installations, topics and messages of the emulator?")) return;
    await call("POST", "/__kii/reset");
    say("The emulator has forgotten everything but the app and its settings.");
    load();
  }),
);
document.addEventListener("keydown", (event) => {
  const isElsewhere = event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]");
  if (event.defaultPrevented || isElsewhere) return;
  if (event.key === "/" && !event.target.closest("input, textarea, select")) {
    event.preventDefault();
    filter.focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    close();
  }
});
addEventListener("hashchange", go);
addEventListener("reload", load);
startSending(log);
startFaulting(load);
go();
log.start();
