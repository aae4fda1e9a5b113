"use strict";
// Filters cards, moves between them with keys, and enlarges a thumbnail. Without this script, the page is a list of links.
const list = document.getElementById("cards");
const cards = [...list.querySelectorAll("li")];
const links = cards.map(card => card.firstElementChild);
const filter = document.getElementById("filter");
const dialog = document.querySelector("dialog");
/** The cards that match the filter. */
let shown = cards;
/** The number of cards in one list, as in GalleryPage. */
const listLength = 60;
let texts;
let pending = 0;

/** Returns the cards that match the filter. */
function matching() {
  texts ??= links.map(link => `${link.textContent} ${link.dataset.url ?? ""}`.toLowerCase());
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const status = document.querySelector(".choices :checked").value;
  return cards.filter((card, i) =>
    (status === "all" || card.className === status) && words.every(word => texts[i].includes(word)));
}

function apply() {
  shown = matching();
  const lists = [];
  for (let i = 0; i < shown.length; i += listLength) {
    lists.push(document.createElement("ul"));
    lists.at(-1).append(...shown.slice(i, i + listLength));
  }
  list.replaceChildren(...lists);
  describe();
}

function describe() {
  document.getElementById("nothing").hidden = shown.length > 0 || cards.length === 0;
  document.getElementById("shown").textContent = filter.value.trim() ? `${shown.length} of ${cards.length}` : "";
}

function applySoon() {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(apply);
}

/** Returns the link of the shown card `step` places further on, or of the last one in that direction. */
function neighbor(link, step) {
  const place = shown.indexOf(link.parentElement) + step;
  return shown[Math.max(0, Math.min(place, shown.length - 1))].firstElementChild;
}

function columns() {
  return Number(getComputedStyle(list).getPropertyValue("--columns"));
}

function add(name, text, parent = dialog) {
  const element = parent.appendChild(document.createElement(name));
  element.textContent = text;
  return element;
}

/** Opens the dialog with the thumbnail of a card at its full size, and its source. */
function look(link) {
  const small = link.querySelector("img");
  dialog.replaceChildren();
  const large = add("img", "");
  large.src = small.src;
  large.alt = "";
  add("h2", link.querySelector("b").textContent).dir = "auto";
  add("p", link.querySelector(".subtitle").textContent).dir = "auto";
  add("p", `${small.naturalWidth} × ${small.naturalHeight}, from ${link.querySelector("small").textContent}`);
  const url = link.dataset.url;
  if (/^https?:\/\//i.test(url)) Object.assign(add("a", url, add("p", "")), { href: url, rel: "noreferrer" });
  dialog.showModal();
}

filter.addEventListener("input", applySoon);
document.querySelector(".choices").addEventListener("change", applySoon);

list.addEventListener("click", event => {
  const link = event.target.closest("a");
  if (!link?.querySelector("img") || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  look(link);
});
dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });

document.addEventListener("keydown", event => {
  if (dialog.open || event.metaKey || event.ctrlKey || event.altKey) return;
  const at = links.includes(document.activeElement) ? document.activeElement : null;
  if (event.key === "/" && document.activeElement !== filter) {
    filter.select();
  } else if (event.key === "Escape" && filter.value) {
    filter.value = "";
    applySoon();
  } else if (at || (document.activeElement === filter && event.key === "ArrowDown")) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns(), Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    (at ? neighbor(at, steps[event.key]) : shown[0]?.firstElementChild)?.focus();
  } else {
    return;
  }
  event.preventDefault();
});

// The page of a run that has just finished takes over the filter of the page during the run.
if (history.state?.status) {
  filter.value = history.state.filter;
  document.querySelector(`.choices [value=${history.state.status}]`)?.click();
  history.replaceState(null, "");
}
// Browsers may restore the filter when the page is reloaded.
if (filter.value || !document.querySelector("[value=all]").checked) apply();
