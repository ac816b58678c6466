// The filter of tilings: on an empty board, the user chooses cells that a piece must cover or avoid.

import { button, element, formatCount } from "./elements.js";
import { inkOn } from "./tilings_drawing.js";

const BETWEEN = "; ";
const VERBS = ["covers", "avoids"];

/** Return the conditions in a value of the address, such as "X covers 2,3; I avoids 0,0". */
export function conditionsIn(text) {
  return (text ?? "").split(BETWEEN).map((one) => one.trim()).filter(Boolean);
}

export class Filter {
  /** `change(conditions)` is called when the user has changed the conditions. */
  constructor(plan, change) {
    [this.plan, this.change, this.verb, this.conditions] = [plan, change, "covers", new Map()];
    this.piece = plan.board.pieces[0]?.name;
    this.pieces = radios("filter-pieces", "Piece", plan.board.pieces.map((piece) => this.#pieceButton(piece)));
    this.verbs = radios("row switch", "Covers or avoids", VERBS.map((verb) => this.#verbButton(verb)));
    this.board = this.#board();
    this.list = element("ul", { class: "filter-list", "aria-label": "Conditions" });
    this.hint = element("p", { class: "small muted" });
    this.element = element("div", { class: "filter" }, this.pieces, this.verbs, this.hint, this.board, this.list);
    this.#show();
  }

  /** Show conditions, written as in the address. */
  set(texts) {
    this.conditions = new Map();
    for (const text of texts) {
      const [, piece, verb, cells] = text.match(/^(.+?) (covers|avoids) (.+)$/) ?? [];
      if (piece) this.conditions.set(`${piece} ${verb}`, new Set(cells.split(/\s+/)));
      else this.conditions.set(text, new Set());
    }
    this.#show();
  }

  get #key() {
    return `${this.piece} ${this.verb}`;
  }

  #texts() {
    return [...this.conditions].map(([key, cells]) => [key, ...cells].join(" "));
  }

  #toggle(cell) {
    const cells = new Set(this.conditions.get(this.#key));
    if (!cells.delete(cell)) cells.add(cell);
    if (cells.size) this.conditions.set(this.#key, cells);
    else this.conditions.delete(this.#key);
    this.#show();
    this.change(this.#texts());
  }

  #pieceButton(piece) {
    const made = button("", () => this.#pick({ piece: piece.name }), { class: "filter-piece", role: "radio", "data-piece": piece.name });
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = piece.colour;
    made.append(swatch, piece.count > 1 ? `${piece.name} ×${piece.count}` : piece.name);
    return made;
  }

  #verbButton(verb) {
    return button(verb, () => this.#pick({ verb }), { class: "button", role: "radio", "data-verb": verb });
  }

  #pick(changes) {
    Object.assign(this, changes);
    this.#show();
  }

  #board() {
    const { board } = this.plan;
    const made = element("div", { class: "filter-board", role: "group", "aria-label": "Cells of the board" });
    made.style.setProperty("--columns", board.layers * board.columns + board.layers - 1);
    this.buttons = new Map(board.cells.map((cell) => [cell.join(), this.#cell(cell)]));
    const inOrder = [...this.buttons.values()].sort((a, b) => a.dataset.row - b.dataset.row || a.dataset.column - b.dataset.column);
    inOrder.forEach((one, at) => one.setAttribute("tabindex", at === 0 ? "0" : "-1"));
    made.append(...inOrder);
    made.addEventListener("keydown", (event) => this.#walk(event));
    return made;
  }

  #cell(cell) {
    const [layer, row, column] = cell.length === 3 ? cell : [0, ...cell];
    const across = layer * (this.plan.board.columns + 1) + column;
    const made = button("", () => this.#toggle(cell.join()), { class: "filter-cell", "data-row": row, "data-column": across });
    [made.style.gridRow, made.style.gridColumn] = [row + 1, across + 1];
    made.dataset.words = `${cell.length === 3 ? `layer ${layer + 1}, ` : ""}row ${row + 1}, column ${column + 1}`;
    return made;
  }

  #walk(event) {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    if (down === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const { row, column } = event.target.dataset;
    for (let step = 1; step <= 2 * this.buttons.size; step += 1) {
      const [wantedRow, wantedColumn] = [Number(row) + down * step, Number(column) + right * step];
      const next = [...this.buttons.values()].find(({ dataset }) => Number(dataset.row) === wantedRow && Number(dataset.column) === wantedColumn);
      if (!next) continue;
      this.buttons.forEach((one) => one.setAttribute("tabindex", one === next ? "0" : "-1"));
      return next.focus();
    }
  }

  #show() {
    const choice = `Choose the cells that ${this.piece} ${this.verb === "covers" ? "covers" : "does not cover"}.`;
    this.hint.textContent = `${choice} Rotated and reflected copies count, and the copy that fits is shown.`;
    mark(this.pieces, "piece", this.piece);
    mark(this.verbs, "verb", this.verb);
    this.buttons.forEach((made, cell) => this.#showCell(made, cell));
    this.list.replaceChildren(...[...this.conditions].map(([key, cells]) => this.#condition(key, cells)));
  }

  /** Show a cell in the colour of the piece that must cover it, or with a cross and the names of the pieces that avoid it. */
  #showCell(made, cell) {
    const said = [...this.conditions].filter(([, cells]) => cells.has(cell)).map(([key]) => key);
    const covering = said.find((key) => key.endsWith(" covers"))?.slice(0, -7);
    const avoiding = said.filter((key) => key.endsWith(" avoids")).map((key) => key.slice(0, -7));
    const colour = this.plan.board.pieces.find(({ name }) => name === covering)?.colour ?? "";
    [made.style.background, made.style.color] = [colour, colour && inkOn(colour)];
    made.replaceChildren(...(covering ? [covering] : avoiding.map((name) => element("span", { class: "avoided", text: `×${name}` }))));
    made.setAttribute("aria-label", [made.dataset.words, ...said].join(", "));
    made.setAttribute("aria-pressed", String(this.conditions.get(this.#key)?.has(cell) ?? false));
  }

  #condition(key, cells) {
    const remove = button("×", () => this.#remove(key), { class: "quiet", "aria-label": `Remove: ${key}` });
    return element("li", {}, element("span", { text: `${key} ${formatCount(cells.size, "cell")}` }), remove);
  }

  #remove(key) {
    this.conditions.delete(key);
    this.#show();
    this.change(this.#texts());
  }
}

/** Return conditions as a value for the address; null if there are none. */
export function addressOf(texts) {
  return texts.length ? texts.join(BETWEEN) : null;
}

function mark(group, kind, value) {
  const chosen = [...group.children].find((one) => one.dataset[kind] === value);
  for (const one of group.children) {
    one.setAttribute("aria-checked", String(one === chosen));
    one.setAttribute("tabindex", one === (chosen ?? group.firstChild) ? "0" : "-1");
  }
}

/** Return a group of buttons of which one is chosen, by a click or by arrow keys. */
function radios(tone, label, buttons) {
  const group = element("div", { class: tone, role: "radiogroup", "aria-label": label }, ...buttons);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[(buttons.indexOf(event.target) + step + buttons.length) % buttons.length];
    next.click();
    next.focus();
  });
  return group;
}
