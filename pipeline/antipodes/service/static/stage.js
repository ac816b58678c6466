// The board to play on: the user clicks or drags pieces, which glide to their new places.

import { difference, drawPicture, middle, piecesOf, pointAt, vector, within } from "./board.js";
import { button, element, nameOf, svgElement } from "./elements.js";
import { withPreview } from "./preview.js";
import { describeResult } from "./results.js";

const GLIDE = 180;
const CLICK = 6;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STRAIGHT = 0.7;
const STICKERS = ["rectangle", "polygon"];
const NOWHERE = { box: [Infinity, Infinity, -Infinity, -Infinity] };

/** Return whether the user has asked the system for reduced motion. */
export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** The board of the store that `store()` returns; `make(successor)` is called when the user chooses a move. */
export class Stage {
  #store;
  #make;
  #image = null;
  #picture = null;
  #pieces = [];
  #choices = [];
  #drag = null;
  #clicked = null;
  #earlyClick = null;
  #pressed = false;
  #offered = false;
  #glide = null;
  #stickers;
  #successors = [];
  #quiet = false;

  constructor(store, make) {
    [this.#store, this.#make] = [store, make]; // `store` is a function, because the store changes with each commit
    this.menu = element("div", { class: "choice", popover: "auto", role: "group", "aria-label": "Moves of this piece" });
    this.board = element("div", { class: "board", tabindex: "0", role: "group", "aria-label": "Board" });
    this.element = element("div", { class: "board-frame" }, this.board, this.menu);
    this.board.addEventListener("pointerdown", (event) => this.#begin(event));
    this.board.addEventListener("pointermove", (event) => this.#follow(event));
    this.board.addEventListener("pointerup", (event) => this.#end(event));
    this.board.addEventListener("pointercancel", () => this.#release());
    this.board.addEventListener("click", () => this.#click());
  }

  /** Put a picture on the board; its pieces glide from their places in the previous picture within `milliseconds`. */
  show(picture, label, milliseconds = GLIDE) {
    this.#release();
    [this.#choices, this.#successors] = [[], []];
    this.#offered = false;
    this.board.classList.remove("stale");
    const before = this.#picture;
    this.#picture = picture;
    this.#pieces = piecesOf(picture);
    this.#image = drawPicture(picture, label);
    this.board.replaceChildren(this.#image);
    if (before && !prefersReducedMotion() && milliseconds > 0) this.#animate(before, picture, milliseconds);
  }

  /** Mark the board as outdated until the picture of another position arrives. */
  cover(label) {
    this.show(this.#picture, label, 0);
    this.board.classList.add("stale");
  }

  /** Replace the picture without animation if it differs: identical pieces may have exchanged their letters. */
  rename(picture, label) {
    if (JSON.stringify(picture) !== JSON.stringify(this.#picture)) this.show(picture, label, 0);
  }

  /** Set the legal moves, as successors with pictures. */
  setMoves(successors) {
    this.menu.hidePopover();
    this.endPreview();
    this.#successors = successors;
    this.#choices = successors
      .filter((successor) => successor.picture)
      .map((successor) => ({ successor, ...difference(this.#picture, successor.picture) }));
    if (this.#stickers !== undefined) this.#enableMoves();
  }

  /** Set the names of the moves that turn each sticker of a net, in the order of the picture; null if there is no net. */
  setStickers(stickers) {
    this.#stickers = stickers;
    if (this.#choices.length) this.#enableMoves();
  }

  /** Mark the pieces that can be clicked, and handle a click that came before the moves were known, unless it still lasts. */
  #enableMoves() {
    for (const group of this.#groups()) group.classList.toggle("movable", this.#isMovable(group));
    this.#offered = true;
    if (!this.#pressed) this.#useEarlyClick(); // the end of the click would close a menu that is opened now
  }

  #useEarlyClick() {
    const from = this.#earlyClick;
    this.#earlyClick = null;
    if (from) this.#choose(this.#movesAt(from), from);
  }

  /** Show the picture after a move until `endPreview` is called; the position on the board stays the same. */
  preview(picture, label) {
    if (this.#quiet || this.#drag) return;
    this.#finishGlide();
    const image = drawPicture(picture, label);
    for (const group of changedGroups(image, this.#picture, picture)) group.classList.add("changed");
    this.board.replaceChildren(image);
    this.board.classList.add("preview");
  }

  endPreview() {
    if (!this.board.classList.contains("preview")) return;
    this.board.classList.remove("preview");
    this.board.replaceChildren(this.#image);
  }

  /** Run an action that moves the focus without showing a preview. */
  withoutPreview(act) {
    this.#quiet = true;
    act();
    this.#quiet = false;
  }

  /** The actions that are possible on this board now: {stickers, drag, click, arrows}. */
  get actions() {
    const choices = this.#choices;
    const changes = choices.some(({ moved, gone, come }) => moved.length + gone.length + come.length > 0);
    return {
      stickers: Boolean(this.#stickers),
      drag: !this.#stickers && choices.some(({ moved }) => moved.length > 0),
      click: changes,
      arrows: Object.keys(ARROWS).some((key) => this.#movesForKey(key).length > 0),
    };
  }

  /** The picture that is shown. */
  get picture() {
    return this.#picture;
  }

  /** Make the move for an arrow key; if several moves match, open the menu. */
  arrow(key) {
    const fitting = this.#movesForKey(key);
    if (fitting.length === 1) this.#make(fitting[0].successor);
    else if (fitting.length > 1) this.#openMenu(fitting, middle(fitting[0].moved[0].from));
  }

  /** Return whether an arrow key matches a move, or may match one because the moves are not known yet. */
  mayMatchKey(key) {
    return this.#choices.length === 0 || this.#movesForKey(key).length > 0;
  }

  #movesForKey(key) {
    if (this.#stickers) return []; // a turn may look as if a single sticker had moved, if others have the same colour
    const [x, y] = ARROWS[key];
    return this.#choices.filter(({ moved }) => moved.length === 1 && points(moved[0], x, y));
  }

  /** Return the SVG groups of the pieces, except pieces that are fading out. */
  #groups() {
    return [...this.#image.querySelectorAll("[data-piece]")];
  }

  #isMovable(group) {
    const point = middle(this.#pieces[group.dataset.piece]);
    return !group.classList.contains("fixed") && this.#movesAt(point).length > 0;
  }

  /** Return the moves that move the piece at a point, or that put a piece there if the place is empty. */
  #movesAt(point) {
    if (this.#stickers) return this.#turnsAt(point);
    const here = this.#choices.filter(({ moved, gone }) => [...moved.map(({ from }) => from), ...gone].some((one) => within(point, one)));
    if (here.length) return here;
    return this.#choices.filter(({ moved, come }) => [...moved.map(({ to }) => to), ...come].some((one) => within(point, one)));
  }

  /** Return the moves that turn the sticker at a point; turns of its own face come first. */
  #turnsAt(point) {
    const stickers = this.#pieces.filter(({ shapes }) => STICKERS.includes(shapes[0].kind));
    const names = this.#stickers[stickers.findIndex((one) => within(point, one))] ?? [];
    return names.map((name) => this.#choices.find(({ successor }) => successor.move === name)).filter(Boolean);
  }

  #begin(event) {
    if (event.button !== 0 || !this.#image) return;
    this.endPreview();
    this.#pressed = true;
    const from = pointAt(this.#image, event);
    this.#earlyClick = this.#offered ? null : from;
    const choices = this.#movesAt(from);
    if (!choices.length) return;
    this.#finishGlide();
    this.#drag = { from, choices, pointer: event.pointerId, far: 0 };
    this.board.setPointerCapture(event.pointerId);
  }

  /** Let the piece follow the pointer along the path of the best matching move. */
  #follow(event) {
    const drag = this.#drag;
    if (drag?.pointer !== event.pointerId) return;
    const to = pointAt(this.#image, event);
    drag.by = [to[0] - drag.from[0], to[1] - drag.from[1]];
    drag.far = Math.max(drag.far, Math.hypot(...drag.by));
    if (drag.far < CLICK) return;
    const best = nearestTo(drag);
    this.#place(best?.choice.moved ?? [], best ? Math.max(0, Math.min(1, best.share)) : 0);
    drag.best = best;
  }

  #end(event) {
    const drag = this.#drag;
    if (drag?.pointer !== event.pointerId) return;
    this.#drag = null;
    if (drag.far < CLICK) this.#clicked = drag; // wait for the click event, which would close a menu that is opened now
    else if (drag.best?.share > 0.35) this.#make(drag.best.choice.successor);
    else this.#place([], 0);
  }

  #click() {
    const clicked = this.#clicked;
    this.#clicked = null;
    this.#pressed = false;
    if (clicked) this.#choose(clicked.choices, clicked.from);
    else if (this.#offered) this.#useEarlyClick();
  }

  /** Make the move for a click at a point; if several moves match, let the user choose. */
  #choose(choices, from) {
    const meant = choices.filter((choice) => within(from, centreOf(choice)));
    if (choices.length === 1) this.#make(choices[0].successor);
    else if (meant.length === 1) this.#make(meant[0].successor);
    else if (choices.length) this.#openMenu(choices, from);
  }

  #release() {
    this.endPreview();
    this.#drag = null;
    this.#finishGlide();
    if (this.#image) this.#place([], 0);
  }

  /** Show some pieces at a fraction of the way to their new places, and all others at their places. */
  #place(moved, share) {
    const ways = new Map(moved.map(({ from, to }) => [boxText(from), vector(from, to)]));
    for (const group of this.#groups()) {
      const way = ways.get(boxText(this.#pieces[group.dataset.piece]));
      const by = way && !group.classList.contains("fixed") ? way.map((one) => one * share) : null;
      if (by) group.setAttribute("transform", `translate(${by.join(" ")})`);
      else group.removeAttribute("transform");
    }
  }

  /** Let the user choose among the moves of one piece. */
  #openMenu(choices, [x, y]) {
    const buttons = choices.map(({ successor }) => {
      const { sign, words, tone } = describeResult(successor, this.#store());
      const name = nameOf(successor, this.#successors);
      const made = button(name, () => this.#chosen(successor), { class: "move", "aria-label": `${name}: ${words}` });
      made.append(element("span", { class: `sign ${tone}`, text: sign }));
      return withPreview(made, this, successor, `Preview of ${name}: ${successor.position}, ${words}`);
    });
    this.menu.replaceChildren(...buttons);
    const point = new DOMPoint(x, y).matrixTransform(this.#image.getScreenCTM());
    this.menu.style.left = `${Math.max(8, Math.min(innerWidth - 248, point.x - 40))}px`;
    this.menu.style.top = `${Math.max(8, Math.min(innerHeight - 160, point.y + 14))}px`;
    this.menu.showPopover();
    this.withoutPreview(() => buttons[0].focus());
  }

  #chosen(successor) {
    this.menu.hidePopover();
    this.board.focus({ preventScroll: true });
    this.#make(successor);
  }

  /** Let the pieces glide from their old places; pieces that occur in only one of the pictures fade in or out. */
  #animate(before, after, milliseconds) {
    const { moved, gone, come } = difference(before, after);
    const groups = this.#groups();
    const groupOf = (piece) => groups[this.#pieces.findIndex((one) => boxText(one) === boxText(piece) && one.look === piece.look)];
    const ghosts = gone.map((piece) => ghost(before, piece));
    this.#image.append(...ghosts);
    const options = { duration: milliseconds, easing: "cubic-bezier(.3,.1,.2,1)", fill: "backwards" };
    const glides = moved.map(({ from, to }) => {
      const [x, y] = vector(to, from);
      return groupOf(to)?.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], options);
    });
    const fades = come.map((piece) => groupOf(piece)?.animate([{ opacity: 0 }, { opacity: 1 }], options));
    const ends = ghosts.map((one) => one.animate([{ opacity: 1 }, { opacity: 0 }], { ...options, fill: "both" }));
    this.#glide = { running: [...glides, ...fades, ...ends].filter(Boolean), ghosts };
    Promise.allSettled(this.#glide.running.map((one) => one.finished)).then(() => ghosts.forEach((one) => one.remove()));
  }

  #finishGlide() {
    this.#glide?.running.forEach((one) => one.finish());
    this.#glide?.ghosts.forEach((one) => one.remove());
    this.#glide = null;
  }
}

/** Return the SVG groups of the pieces of a picture that differ from the previous picture. */
function changedGroups(image, before, picture) {
  const { moved, come } = difference(before, picture);
  const changed = new Set([...moved.map(({ to }) => to), ...come].map(boxText));
  return piecesOf(picture).flatMap((piece, number) => (changed.has(boxText(piece)) ? [image.querySelector(`[data-piece="${number}"]`)] : []));
}

/** Return an SVG group of a piece of the previous picture, to fade it out. */
function ghost(picture, piece) {
  const number = piecesOf(picture).findIndex((one) => boxText(one) === boxText(piece) && one.look === piece.look);
  const group = drawPicture(picture, "").children[number] ?? svgElement("g");
  delete group.dataset.piece;
  group.classList.add("ghost");
  return group;
}

function boxText({ box }) {
  return box.map((value) => Math.round(value * 4)).join();
}

/** Return the middle one of the pieces that a move changes without moving them, such as the pressed light. */
function centreOf({ moved, gone }) {
  if (moved.length || !gone.length) return NOWHERE;
  const far = (one) => gone.reduce((sum, other) => sum + Math.hypot(...vector(one, other)), 0);
  return gone.reduce((best, one) => (far(one) < far(best) ? one : best));
}

function points({ from, to }, x, y) {
  const [right, down] = vector(from, to);
  const length = Math.hypot(right, down);
  return length > 0 && (right * x + down * y) / length > STRAIGHT;
}

/** Return the move that matches a drag best, and the fraction of its way that is done: {choice, share}; null if none matches. */
function nearestTo({ choices, from, by }) {
  let best = null;
  for (const choice of choices) {
    const way = wayOf(choice, from);
    const length = way && Math.hypot(...way);
    if (!length) continue;
    const along = (by[0] * way[0] + by[1] * way[1]) / length;
    const off = Math.hypot(by[0] - way[0], by[1] - way[1]);
    if (along > 0.5 * Math.hypot(...by) && (!best || off < best.off)) best = { choice, share: along / length, off };
  }
  return best;
}

/** Return the way, [right, down], of the piece that moves from a point or to it; null if there is none. */
function wayOf({ moved }, point) {
  const pair = moved.find(({ from }) => within(point, from)) ?? moved.find(({ to }) => within(point, to));
  return pair ? vector(pair.from, pair.to) : null;
}
