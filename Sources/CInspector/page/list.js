import { el } from "./dom.js";

const height = 26;

/** Only visible rows are elements. `cells(row)` returns `[class, text, tooltip]` for each cell. */
class KiiList extends HTMLElement {
  cells = () => [];
  #rows = [];
  #elements = new Map();
  #body = el("div", { role: "rowgroup" });
  /** The key of the focusable row. */
  #active = null;
  #selected = null;
  #frame = 0;

  connectedCallback() {
    this.setAttribute("role", "grid");
    this.style.setProperty("--row", `${height}px`);
    this.append(this.#body);
    this.addEventListener("scroll", () => (this.#frame ||= requestAnimationFrame(() => this.#draw())));
    this.addEventListener("keydown", (event) => this.#press(event));
    this.addEventListener("focusin", ({ target }) => (this.#active = target.dataset.key ?? this.#active));
    this.addEventListener("click", ({ target }) => this.#open(target.closest("[role=row]")?.dataset.key));
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  /** A list that is scrolled down keeps its visible rows in place. */
  show(rows, selected) {
    const top = this.scrollTop;
    const anchor = top > 0 ? this.#rows[Math.floor(top / height)] : undefined;
    [this.#rows, this.#selected] = [rows, selected];
    const active = this.#indexOf(this.#active);
    const hadFocus = active < 0 && this.contains(document.activeElement);
    if (active < 0) this.#active = rows[Math.min(Math.floor(top / height), rows.length - 1)]?.key ?? null;
    this.setAttribute("aria-rowcount", rows.length);
    this.#body.style.height = `${rows.length * height}px`;
    const index = anchor ? this.#indexOf(anchor.key) : -1;
    if (index >= 0) this.scrollTop = index * height + (top % height);
    this.#draw();
    if (hadFocus) this.focus();
  }

  focus() {
    this.#elements.get(this.#active)?.focus();
  }

  #indexOf(key) {
    return key === null ? -1 : this.#rows.findIndex((row) => row.key === key);
  }

  #draw() {
    this.#frame = 0;
    const first = Math.max(0, Math.floor(this.scrollTop / height) - 8);
    const end = Math.min(this.#rows.length, Math.ceil((this.scrollTop + this.clientHeight) / height) + 8);
    const wanted = new Map();
    for (let index = first; index < end; index += 1) wanted.set(this.#rows[index].key, index);
    // The focusable row needs an element even out of sight, for the Tab key.
    const active = this.#indexOf(this.#active);
    if (active >= 0) wanted.set(this.#active, active);
    for (const [key, element] of this.#elements) {
      if (wanted.has(key)) continue;
      element.remove();
      this.#elements.delete(key);
    }
    for (const [key, index] of wanted) this.#drawRow(key, index);
  }

  #drawRow(key, index) {
    let element = this.#elements.get(key);
    if (!element) {
      element = el("div", { role: "row" });
      element.dataset.key = key;
      this.#elements.set(key, element);
      this.#body.append(element);
    }
    const cells = this.cells(this.#rows[index]);
    const text = JSON.stringify(cells);
    if (element.text !== text) {
      element.text = text;
      const cell = ([name, one, title = ""]) => el("span", { role: "gridcell", class: name, title }, one);
      element.replaceChildren(...cells.map(cell));
    }
    element.style.top = `${index * height}px`;
    element.tabIndex = key === this.#active ? 0 : -1;
    element.setAttribute("aria-rowindex", index + 1);
    element.setAttribute("aria-selected", String(key === this.#selected));
  }

  #press(event) {
    const page = Math.max(1, Math.floor(this.clientHeight / height) - 1);
    const last = this.#rows.length - 1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last };
    if (event.key in steps && last >= 0) {
      event.preventDefault();
      this.#move(Math.max(0, Math.min(last, this.#indexOf(this.#active) + steps[event.key])));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#open(this.#active);
    }
  }

  #move(index) {
    this.#active = this.#rows[index].key;
    const top = index * height;
    if (top < this.scrollTop) this.scrollTop = top;
    else if (top + height > this.scrollTop + this.clientHeight) this.scrollTop = top + height - this.clientHeight;
    this.#draw();
    this.focus();
  }

  #open(key) {
    if (key === undefined || key === null) return;
    this.#active = key;
    this.dispatchEvent(new CustomEvent("choose", { detail: key }));
  }
}

customElements.define("kii-list", KiiList);
