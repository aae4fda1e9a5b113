
// While the run lasts, a hidden frame loads the newest version of this page and sends its cards to the visible page. The
// script of a page on disk may not read files, but it may show them.
const run = document.getElementById("run");
/** The time in milliseconds without a new version after which the run counts as stopped, a multiple of the longest. */
const patience = 60000;
/** The time in milliseconds between two looks at a run that counts as stopped. */
const longInterval = 10000;
/** The HTML of each card by the ID of its link. */
let markup = new Map(cards.map(card => [card.firstElementChild.id, card.outerHTML]));
let frame;
let isReceived = false;

function counter(status) {
  return document.querySelector(`.choices [value=${status}] ~ i`);
}

function send() {
  const counts = ["all", "ok", "failed", "cancelled"].map(status => [status, counter(status).textContent]);
  const page = { cards: [...markup], counts, times: { ...run.dataset }, text: run.textContent };
  parent.postMessage(page, location.protocol === "file:" ? "*" : location.origin);
}

/** Returns the card for `html`: `old` with new contents if they differ, or a new one. */
function update(old, id, html) {
  if (old && markup.get(id) === html) return old;
  const template = document.createElement("template");
  template.innerHTML = html;
  const card = template.content.firstElementChild;
  if (!old) return card;
  old.className = card.className;
  old.replaceChildren(...card.childNodes);
  return old;
}

/** Puts the shown cards into the lists, and moves only those that are not in their place, so that nothing flickers. */
function arrange() {
  const wanted = new Set(shown);
  for (const card of list.querySelectorAll("li")) if (!wanted.has(card)) card.remove();
  const length = Math.ceil(shown.length / listLength);
  while (list.children.length < length) list.append(document.createElement("ul"));
  shown.forEach((card, i) => {
    const part = list.children[Math.floor(i / listLength)];
    const present = part.children[i % listLength] ?? null;
    if (present !== card) part.insertBefore(card, present);
  });
  while (list.children.length > length) list.lastElementChild.remove();
}

function show(page) {
  const focused = document.activeElement?.id;
  const known = new Map(cards.map(card => [card.firstElementChild.id, card]));
  const next = page.cards.map(([id, html]) => update(known.get(id), id, html));
  markup = new Map(page.cards);
  cards.splice(0, cards.length, ...next);
  links.splice(0, links.length, ...next.map(card => card.firstElementChild));
  texts = undefined;
  shown = matching();
  arrange();
  describe();
  for (const [status, count] of page.counts) counter(status).textContent = count;
  Object.assign(run.dataset, page.times);
  run.textContent = page.text;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Loads the page of the finished run. The browser keeps the place on it; the filter is passed on. */
function finish() {
  if (dialog.open) return dialog.addEventListener("close", finish, { once: true });
  history.replaceState({ filter: filter.value, status: document.querySelector(".choices :checked").value }, "");
  location.reload();
}

/** Returns true if the page is so old that the process must have been killed, and says so. */
function isStopped() {
  const time = Number(run.dataset.time);
  const isOld = Date.now() - time > patience;
  run.classList.toggle("stopped", isOld);
  if (isOld) {
    run.textContent = `The run has stopped: there was no update since ${new Date(time).toLocaleString()}. `
      + "This page is not complete.";
  }
  return isOld;
}

function poll() {
  if (document.hidden) return document.addEventListener("visibilitychange", poll, { once: true });
  isReceived = false;
  frame?.remove();
  frame = document.createElement("iframe");
  frame.hidden = true;
  frame.src = `${location.pathname}?live=${Date.now()}`;
  // The page of a finished run sends nothing. A message may arrive a little later than this event.
  frame.addEventListener("load", () => setTimeout(() => isReceived ? pollLater() : finish(), 300));
  document.body.append(frame);
}

function pollLater() {
  setTimeout(poll, isStopped() ? longInterval : Number(run.dataset.interval));
}

if (parent !== window && location.search.startsWith("?live=")) {
  send();
} else {
  addEventListener("message", event => {
    if (event.source !== frame?.contentWindow) return;
    isReceived = true;
    show(event.data);
  });
  pollLater();
}
