
// While the run lasts, a hidden frame loads the newest version of this page and sends its rows to the visible page. The
// script of a page on disk may not read files, but it may show them.
const run = document.getElementById("run");
/** The time in milliseconds without a new version after which the run counts as stopped, a multiple of the longest. */
const patience = 60000;
/** The time in milliseconds between two looks at a run that counts as stopped. */
const longInterval = 10000;
let frame;
let isReceived = false;

function counter(status) {
  return document.querySelector(`.choices [value=${status}] ~ i`);
}

function send() {
  const counts = ["all", "ok", "failed", "cancelled", "waiting"].map(name => [name, counter(name).textContent]);
  const page = { rows, counts, times: { ...run.dataset }, text: run.textContent };
  parent.postMessage(page, location.protocol === "file:" ? "*" : location.origin);
}

/** Returns true if two versions of a row show the same. */
function isSame(a, b) {
  return a.s === b.s && a.f === b.f && a.c === b.c && a.r === b.r && a.n === b.n;
}

function show(page) {
  const focused = document.activeElement?.id;
  const known = new Map(rows.map(row => [row.i, row]));
  rows = page.rows.map(row => known.has(row.i) && isSame(known.get(row.i), row) ? known.get(row.i) : row);
  const before = items[active]?.i;
  shown = matching();
  items = grouped();
  active = Math.max(0, items.findIndex(item => item.i === before));
  // Elements of rows that are the same stay, so that nothing flickers.
  arrange();
  for (const [status, count] of page.counts) counter(status).textContent = count;
  Object.assign(run.dataset, page.times);
  run.textContent = page.text;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Loads the page of the finished run. The browser keeps the place on it; what was chosen is passed on. */
function finish() {
  if (dialog.open) return dialog.addEventListener("close", finish, { once: true });
  const chosen = { side: controls.side.value, layout: layout(), sort: controls.sort.value };
  history.replaceState({ ...chosen, filter: filter.value, status: status() }, "");
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
