// The hints below the board: the actions that are possible with this device and puzzle.

import { element } from "./elements.js";
import { isOneWay } from "./results.js";

const ARROWS = ["←", "→", "↑", "↓"];
const MOST_LETTERS = 4;
const mouse = matchMedia("(any-hover: hover)");

/** Return whether the device has a pointer that can hover, and therefore probably a keyboard. */
export function hasMouse() {
  return mouse.matches;
}

export class Hints {
  #context;
  #actions = {};
  #shown = "";

  constructor(context) {
    this.#context = context;
    this.element = element("p", { class: "hint small muted" });
  }

  /** Show the hints that apply to this position or to an earlier one. */
  show() {
    const now = this.#context.stage.actions;
    for (const [name, can] of Object.entries(now)) this.#actions[name] ||= can;
    const text = JSON.stringify([this.#actions, hasMouse()]);
    if (text === this.#shown) return;
    this.#shown = text;
    const hints = [[byHand(this.#actions)], ...(hasMouse() ? this.#byKeys() : [])];
    this.element.replaceChildren(...hints.flatMap((parts, at) => [at ? "; " : "", ...parts]), ".");
    this.#context.stage.board.setAttribute("aria-label", `Board: ${this.element.textContent}`);
  }

  *#byKeys() {
    const { store } = this.#context;
    if (this.#actions.arrows) yield [...keys(ARROWS), " move a piece"];
    const letters = (store.moves ?? []).filter((name) => /^\p{L}$/u.test(name));
    if (letters.length && !this.#actions.arrows) yield byLetters(letters, store.moves);
    if (!isOneWay(store)) yield [...keys(["Space"]), " makes a best move"];
  }
}

function byHand({ stickers, drag, click }) {
  const tap = hasMouse() ? "Click" : "Tap";
  if (stickers) return `${tap} a sticker to choose a turn of its piece`;
  if (drag) return `${tap} or drag a piece`;
  return click ? `${tap} a piece to move or change it` : "Choose a move in the Moves tab";
}

function byLetters(letters, moves) {
  const inverse = letters.find((name) => moves.includes(`${name}'`));
  const shown = [...keys(letters.slice(0, MOST_LETTERS)), letters.length > MOST_LETTERS ? " …" : "", " make the moves with these names"];
  return inverse === undefined ? shown : [...shown, ", ", ...keys(["Shift", inverse], "+"), ` makes ${inverse}'`];
}

function keys(names, between = " ") {
  return names.flatMap((name, at) => [at ? between : "", element("kbd", { text: name })]);
}
