"use strict";
// Shows the rows of the page as a grid or as a table. Only what is in sight is in the document, so that 100,000 rows
// scroll like 100. All text of rows is set as text, never as markup.

/** The rows, with the members that GalleryCard writes. */
let rows = JSON.parse(document.getElementById("rows").textContent);
document.getElementById("rows").remove();
const view = document.getElementById("view");
const filter = document.getElementById("filter");
const dialog = document.querySelector("dialog");
const controls = document.forms.controls.elements;
/** The rows that match the filter, in the order of the page. */
let shown = [];
/** The lines of the page from the top: each begins at `tops`, and has the items from `firsts` on. */
let tops = [], firsts = [], total = 0;
/** The items: rows, and texts of headings between groups. */
let items = [];
/** The elements in the document by their items. */
const elements = new Map();
/** The position in `items` of the row that the keys begin at. */
let active = 0;
let columns = 1;
/** Browsers lay out no more than some 30 million pixels. Longer pages scroll by more than their scroll bar says. */
const longest = 15e6;
const gap = 16, caption = 52, heading = 48, tableRow = 44, lowest = 64;

// MARK: Choice

function remembered() {
  try { return JSON.parse(localStorage.getItem("thumbs-gallery")) ?? {}; } catch { return {}; }
}

function remember() {
  const state = { side: controls.side.value, layout: layout(), sort: controls.sort.value };
  try { localStorage.setItem("thumbs-gallery", JSON.stringify(state)); } catch { /* Not every page may store. */ }
}

function layout() { return controls.layout.value; }
function status() { return document.querySelector(".choices :checked").value; }
function host(row) { return row.host ??= (/^[a-z0-9]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(row.u ?? "") ?? ["", ""])[1]; }
function text(row) { return row.text ??= `${row.n} ${row.t} ${row.u ?? ""} ${row.c ?? ""} ${row.r ?? ""}`.toLowerCase(); }

const orders = {
  name: (a, b) => a.n.localeCompare(b.n, undefined, { numeric: true }),
  time: (a, b) => (b.m ?? -1) - (a.m ?? -1),
  size: (a, b) => (b.z ?? -1) - (a.z ?? -1),
  host: (a, b) => host(a) < host(b) ? -1 : host(a) > host(b) ? 1 : 0,
};

/** Returns the rows to show. */
function matching() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), wanted = status();
  let found = rows.filter(row =>
    (wanted === "all" || row.s === wanted) && words.every(word => text(row).includes(word)));
  const order = orders[controls.sort.value];
  if (order) found = found.sort((a, b) => order(a, b) || a.i - b.i);
  return controls.group.checked && order !== orders.host ? found.sort(orders.host) : found;
}

/** Returns the rows with a heading before each group. */
function grouped() {
  if (!controls.group.checked) return shown;
  const result = [];
  for (let start = 0, end; start < shown.length; start = end) {
    for (end = start; end < shown.length && host(shown[end]) === host(shown[start]);) end++;
    result.push({ heading: `${host(shown[start]) || "no host"}: ${(end - start).toLocaleString("en")}` });
    result.push(...shown.slice(start, end));
  }
  return result;
}

function apply() {
  shown = matching();
  items = grouped();
  active = Math.max(0, items.findIndex(item => !item.heading));
  arrange();
  document.getElementById("nothing").hidden = shown.length > 0 || rows.length === 0;
  document.getElementById("shown").textContent =
    filter.value.trim() ? `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}` : "";
}

let pending = 0;
function soon(work) {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(work);
}

// MARK: Layout

/** Places all items, and shows those in sight. */
function arrange() {
  const isGrid = layout() === "grid", side = Number(controls.side.value), width = view.clientWidth;
  columns = isGrid ? Math.max(innerWidth < 600 ? 2 : 1, Math.floor((width + gap) / (side + gap))) : 1;
  const widest = Math.min(side, tileWidth());
  [tops, firsts, total] = [[], [], isGrid ? 0 : tableRow];
  for (let i = 0; i < items.length;) {
    tops.push(total);
    firsts.push(i);
    let count = 1;
    if (!items[i].heading) while (count < columns && items[i + count] && !items[i + count].heading) count++;
    total += items[i].heading ? heading : isGrid ? lineHeight(i, count, widest) : tableRow;
    i += count;
  }
  firsts.push(items.length);
  view.className = layout();
  view.style.height = `${Math.min(total, longest)}px`;
  view.setAttribute("role", isGrid ? "list" : "table");
  if (isGrid) view.removeAttribute("aria-rowcount"); else view.setAttribute("aria-rowcount", items.length + 1);
  document.getElementById("heads").hidden = isGrid;
  const present = new Set(items);
  for (const [item, element] of elements) if (!present.has(item)) drop(item, element);
  render();
}

/** Makes all elements again, because their size or the layout has changed. */
function rebuild() {
  for (const [item, element] of elements) drop(item, element);
  arrange();
}

function drop(item, element) {
  element.remove();
  elements.delete(item);
}

/** The height of a line of the grid: that of its highest thumbnail, and of the captions. */
function lineHeight(start, count, side) {
  let height = lowest;
  for (let i = start; i < start + count; i++) {
    const { f, w, h } = items[i];
    height = Math.max(height, f ? h * Math.min(1, side / Math.max(w, h)) : side / 2);
  }
  return Math.round(height) + caption + gap;
}

function tileWidth() { return (view.clientWidth - gap * (columns - 1)) / columns; }

/** Returns the last line that begins at or above `top`. */
function line(top) {
  let low = 0, high = tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= top) low = middle; else high = middle - 1;
  }
  return low;
}

/** The distance of the window from the top of the view, on the page and in the full length of the view. */
function position() {
  const y = Math.max(0, -view.getBoundingClientRect().top);
  const range = Math.max(1, Math.min(total, longest) - innerHeight);
  return [y, total > longest ? y / range * (total - innerHeight) : y];
}

/** Puts the items in sight into the document, and removes the others. */
function render() {
  const [y, top] = position();
  const wanted = new Map();
  if (tops.length > 0) {
    for (let at = line(top - innerHeight / 2); at < tops.length && tops[at] < top + innerHeight * 1.5; at++) {
      for (let i = firsts[at]; i < firsts[at + 1]; i++) wanted.set(items[i], [i, at]);
    }
  }
  for (const [item, element] of elements) {
    if (!wanted.has(item) && !element.contains(document.activeElement)) drop(item, element);
  }
  let next = document.getElementById("heads").nextElementSibling;
  for (const [item, [i, at]] of wanted) {
    const element = elements.get(item) ?? make(item);
    number(element, item, i);
    if (element === next) next = next.nextElementSibling; else view.insertBefore(element, next);
    const x = (i - firsts[at]) * (tileWidth() + gap);
    element.style.transform = `translate(${x}px, ${tops[at] - top + y}px)`;
    if (layout() === "table" || item.heading) continue;
    element.style.width = `${tileWidth()}px`;
    element.style.height = `${(tops[at + 1] ?? total) - tops[at] - gap}px`;
  }
}

// MARK: Elements

function add(parent, name, text, className) {
  const element = parent.appendChild(document.createElement(name));
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** Says which of all items an element is, because most of them are not in the document. */
function number(element, item, i) {
  if (layout() === "grid") {
    element.setAttribute("aria-setsize", items.length);
    element.setAttribute("aria-posinset", i + 1);
  } else {
    element.setAttribute("aria-rowindex", i + 2);
  }
  const link = element.querySelector("a");
  if (link) link.tabIndex = i === active ? 0 : -1;
}

/** Returns the element of an item, which it remembers. */
function make(item) {
  const isGrid = layout() === "grid";
  const element = document.createElement("div");
  elements.set(item, element);
  element.setAttribute("role", isGrid ? "listitem" : "row");
  element.className = item.heading ? "heading" : `item ${item.s}`;
  if (item.heading) {
    add(element, "h2", item.heading).setAttribute("role", isGrid ? "heading" : "cell");
  } else {
    fill(element, item);
  }
  return element;
}

function fill(element, row) {
  const isGrid = layout() === "grid";
  const cell = className => {
    const part = add(element, "span", undefined, className);
    if (!isGrid) part.setAttribute("role", "cell");
    return part;
  };
  picture(cell("well"), row, isGrid ? Math.min(Number(controls.side.value), tileWidth()) : 36);
  const link = add(cell("name"), "a", row.n);
  Object.assign(link, { href: target(row), id: `row-${row.i}`, title: row.n, dir: "auto" });
  const note = cell("note");
  if (row.c) add(note, "code", row.c);
  note.append(row.c ? ` ${row.r}` : isGrid ? row.t : row.x ?? "");
  note.title = row.r ?? row.x ?? row.t;
  note.dir = "auto";
  if (isGrid) return;
  cell("subtitle").textContent = row.t;
  cell("size").textContent = row.d ?? "";
  cell("origin").textContent = row.o ?? (row.s === "waiting" ? "waiting" : "");
}

/** Adds the thumbnail of a row, no larger than it is, or a sign in its place. */
function picture(parent, row, side, source = "f") {
  if (!row[source]) {
    add(parent, "span", { failed: "×", cancelled: "–", waiting: "…" }[row.s] ?? "–", "sign").ariaHidden = "true";
    return;
  }
  const [width, height] = source === "l" ? [row.lw, row.lh] : [row.w, row.h];
  const scale = Math.min(1, side / Math.max(width, height));
  const image = add(parent, "img");
  Object.assign(image, {
    alt: "", decoding: "async", width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)), src: row[source],
  });
  if (row.b) image.style.backgroundImage = `url(${row.b})`;
}

/** The link of a row for a new tab: its file, or its source, which only http and https may name. */
function target(row) {
  if (row.f && !row.f.startsWith("data:")) return row.f;
  return /^https?:\/\//i.test(row.u ?? "") ? row.u : `#row-${row.i}`;
}

// MARK: Keys

/** Moves the focus to an item, which it scrolls into sight. */
function focus(i) {
  active = i;
  const at = firsts.findIndex((first, line) => first <= i && i < firsts[line + 1]);
  const [y, top] = position();
  const height = (tops[at + 1] ?? total) - tops[at], room = document.querySelector("header").offsetHeight + 8;
  if (tops[at] < top + room || tops[at] + height > top + innerHeight) {
    const wanted = tops[at] < top + room ? tops[at] - room - 8 : tops[at] + height - innerHeight + 8;
    const range = Math.min(total, longest) - innerHeight;
    scrollBy(0, (total > longest ? wanted / (total - innerHeight) * range : wanted) - y);
    render();
  }
  const link = document.getElementById(`row-${items[i].i}`);
  for (const other of view.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  if (link) link.tabIndex = 0;
  link?.focus({ preventScroll: true });
}

/** Returns the position of the row `step` items from `i`, or of the last one in that direction. */
function neighbor(i, step) {
  let to = Math.max(0, Math.min(items.length - 1, i + step));
  // The first item may be a heading; the last one is a row.
  const direction = step < 0 && to > 0 ? -1 : 1;
  while (items[to]?.heading) to += direction;
  return items[to] ? to : i;
}

// MARK: Large

let looked = 0;

/** Opens the dialog with the thumbnail of an item at its full size, or with the reason for its failure, and facts. */
function look(i) {
  const row = items[looked = i];
  dialog.querySelector("h2").textContent = row.n;
  const figure = dialog.querySelector("figure");
  figure.replaceChildren();
  picture(figure, row, Infinity, row.l ? "l" : "f");
  const facts = dialog.querySelector("dl");
  facts.replaceChildren();
  for (const [name, value] of [
    ["Failure", row.c && `${row.c}: ${row.r}`], ["Remark", row.x], ["Image", row.d], ["From", row.o],
    ["Thumbnail", row.f && `${row.lw ?? row.w} × ${row.lh ?? row.h}`], ["Host", host(row)], ["Details", row.t],
    ["URL", row.u], ["File", row.p],
  ]) {
    if (!value || (name === "Details" && value === host(row))) continue;
    add(facts, "dt", name);
    const fact = add(facts, "dd");
    fact.dir = "auto";
    const isLink = name === "URL" && /^https?:\/\//i.test(value);
    if (isLink) Object.assign(add(fact, "a", value), { href: value, rel: "noreferrer noopener", target: "_blank" });
    else add(fact, "span", value);
    if (name === "URL" || name === "File") copyButton(fact, value, name);
  }
  dialog.querySelector("[name=previous]").disabled = neighbor(i, -1) === i;
  dialog.querySelector("[name=next]").disabled = neighbor(i, 1) === i;
  if (!dialog.open) dialog.showModal();
}

function copyButton(parent, value, name) {
  const button = add(parent, "button", "Copy");
  button.type = "button";
  button.ariaLabel = `Copy ${name === "URL" ? "the URL" : "the path of the file"}`;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(value);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
    }
  });
}

function step(by) {
  const to = neighbor(looked, by);
  if (to !== looked) look(to);
}

// MARK: Events

filter.addEventListener("input", () => soon(apply));
document.querySelector(".choices").addEventListener("change", () => soon(apply));
document.forms.controls.addEventListener("submit", event => event.preventDefault());
document.forms.controls.addEventListener("input", event => {
  remember();
  soon(event.target.name === "side" || event.target.name === "layout" ? rebuild : apply);
});
addEventListener("scroll", () => soon(render), { passive: true });
addEventListener("resize", () => soon(rebuild));

view.addEventListener("click", event => {
  const element = event.target.closest(".item");
  if (!element || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  active = items.findIndex(item => elements.get(item) === element);
  look(active);
});
dialog.addEventListener("click", event => {
  if (event.target === dialog || event.target.name === "close") dialog.close();
  if (event.target.name === "previous") step(-1);
  if (event.target.name === "next") step(1);
});
dialog.addEventListener("close", () => items[looked] && focus(looked));

document.addEventListener("keydown", event => {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (dialog.open) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    step(event.key === "ArrowLeft" ? -1 : 1);
  } else if (event.key === "/" && document.activeElement !== filter) {
    filter.select();
  } else if (event.key === "Escape" && filter.value) {
    filter.value = "";
    soon(apply);
  } else if (view.contains(document.activeElement) || (document.activeElement === filter && event.key === "ArrowDown")) {
    const isInside = view.contains(document.activeElement), page = columns * Math.max(1, Math.floor(innerHeight / 240));
    const steps = {
      ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity,
      PageUp: -page, PageDown: page,
    };
    if (!(event.key in steps) || items.length === 0) return;
    focus(isInside ? neighbor(active, steps[event.key]) : active);
  } else {
    return;
  }
  event.preventDefault();
});

// MARK: Start

/** The longer side of the thumbnails of the first rows. */
const usual = Math.max(0, ...rows.slice(0, 200).filter(row => row.f).map(row => Math.max(row.w, row.h)));
const past = history.state?.status ? history.state : remembered();
controls.side.value = past.side ?? Math.min(512, Math.max(96, usual || 160));
controls.layout.value = past.layout ?? (usual > 0 && usual <= 64 ? "table" : "grid");
controls.sort.value = past.sort ?? "list";
// The page of a run that has just finished takes over what was chosen on the page during the run.
if (history.state?.status) {
  filter.value = history.state.filter;
  document.querySelector(`.choices [value=${history.state.status}]`)?.click();
  history.replaceState(null, "");
}
for (const time of document.querySelectorAll("time")) {
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
}
apply();
