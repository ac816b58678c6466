// The page: shows the store and view that the address names, and provides the context for all views.
//
// Each page and each view is a module with a function `mount(element, context)`, which fills the element and returns
// {update(), close()}: `update` is called when the state or the store has changed, `close` before the element is removed.
// The context is the same object while the page is shown, but its values change, so read them when they are needed:
//   api        the module api.js, with get(path, query, signal), post(path, body), address(path, query) and storePath(name, rest)
//   name       the name of the store, null on the start page
//   store      the JSON of /stores/NAME as of the last commit, null on the start page
//   state      the state in the address, whose values are strings: {position, view, depth, pattern, scale, ...}
//   navigate(changes, {replace})  changes the state in the address; null removes a key; `replace` adds no step to the history
//   board(picture, label)         draws a picture from the service as an <svg>
//   say(text)  announces a text to screen readers
//   fail(error)  shows an error in one line, until it is dismissed or `succeed()` is called
// The page of a table adds these values for its views:
//   here       the position on the board as {position, distance, index, move}, null before the first answer
//   seen       the JSON of /view of the position on the board, null until it has arrived
//   go(position)  puts a position on the board and adds a step to the history

import { formatAddress, parseAddress } from "./address.js";
import * as api from "./api.js";
import { drawPicture } from "./board.js";
import { element } from "./elements.js";
import { showTheme } from "./theme.js";

const POLL = { unfinished: 1000, finished: 5000 };
const PAGES = {
  start: () => import("./start.js"),
  table: () => import("./table.js"),
  counts: () => import("./table.js"),
  tilings: () => import("./tilings.js"),
};

const main = document.getElementById("main");
const problem = document.getElementById("problem");
let page = null;
let context = null;
let turn = 0;
let timer = 0;

/** Return the context of a page; its functions do nothing once another page is shown. */
function newContext(name, state, store) {
  const shown = (act) => (...given) => made === context && act(...given);
  const made = { api, name, store, state, board: drawPicture };
  return Object.assign(made, { navigate: shown(navigate), say: shown(say), fail: shown(fail), succeed: shown(succeed) });
}

function navigate(changes, { replace = false } = {}) {
  const { name, state } = parseAddress(location.hash);
  const next = formatAddress(name, { ...state, ...changes });
  if (next === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", next);
  showAddress();
}

function say(text) {
  document.getElementById("said").textContent = text;
}

/** Show an error in one line; it stays until it is dismissed or something succeeds. */
function fail(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof api.Problem)) console.error(error);
  if (error.status === 0 && context) markLost(context);
  document.getElementById("problem-text").textContent = error.message;
  problem.hidden = false;
}

function succeed() {
  problem.hidden = true;
}

/** Show the page that the address names. */
async function showAddress() {
  const mine = ++turn;
  const { name, state } = parseAddress(location.hash);
  if (page && context.name === name) {
    context.state = state;
    page.update();
    return;
  }
  try {
    const store = name === null ? null : await api.get(api.storePath(name));
    const module = await PAGES[name === null ? "start" : (store.kind ?? "table")]();
    if (mine === turn) show(module, newContext(name, state, store));
  } catch (error) {
    if (mine === turn) showError(name, error);
  }
}

function show(module, next) {
  const walked = context !== null;
  page?.close();
  succeed();
  context = next;
  main.replaceChildren();
  document.title = next.name === null ? "Antipodes" : `${next.name} – Antipodes`;
  showPlace(next.name);
  page = module.mount(main, next) ?? { update() {}, close() {} };
  if (walked) main.focus({ preventScroll: true }); // the link that was clicked no longer exists
  scheduleCheck();
}

/** Show an error and a link to all stores, because the page cannot be shown. */
function showError(name, error) {
  page?.close();
  page = null;
  context = null; // stop following the previous store
  showPlace(name);
  main.replaceChildren(element("p", { class: "note" }, element("a", { href: "#/", text: "All stores" })));
  fail(error);
}

function showPlace(name) {
  const here = name === null ? [] : [element("span", { class: "slash", "aria-hidden": "true", text: "/" })];
  if (name !== null) here.push(element("a", { href: formatAddress(name, {}), "aria-current": "page", text: name }));
  document.getElementById("where").replaceChildren(...here);
}

/** Check regularly whether the store has changed, more often while a run is under way. */
function scheduleCheck() {
  clearTimeout(timer);
  if (!context?.name) return;
  timer = setTimeout(checkStore, context.store.complete && !context.lost ? POLL.finished : POLL.unfinished);
}

async function checkStore() {
  const asked = context;
  if (document.hidden) return scheduleCheck();
  try {
    const store = await api.get(api.storePath(asked.name));
    if (asked === context) handleStore(asked, store);
  } catch (error) {
    if (asked !== context) return;
    asked.lost = true;
    fail(error);
  }
  scheduleCheck();
}

/** Check more often whether the service, which does not answer, is back. */
function markLost(asked) {
  asked.lost = true;
  scheduleCheck();
}

function handleStore(asked, store) {
  const { lost } = asked;
  asked.lost = false;
  if (lost) succeed();
  updateStore(asked, store);
  if (lost) page.update();
}

function updateStore(asked, store) {
  const kept = asked.store;
  asked.store = store;
  if (["kind", "puzzle", "fingerprint", "start", "problem"].some((key) => kept[key] !== store[key])) location.reload(); // another puzzle
  else if (kept.version !== store.version || Boolean(kept.run) !== Boolean(store.run)) page.update();
}

document.getElementById("problem-close").addEventListener("click", succeed);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && context?.name) checkStore();
});
window.addEventListener("online", () => context?.name && checkStore());
window.addEventListener("popstate", showAddress);
showTheme(document.getElementById("theme"));
showAddress();
