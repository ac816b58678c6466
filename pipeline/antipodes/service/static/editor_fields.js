// The fields of the editor as buttons, arranged as on the board; arrow keys move between them.

import { button, element } from "./elements.js";
import { isArrowKey } from "./keys.js";

const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const SIDE = 54;
const LEAST_SIDE = 26;
const WIDE_COLUMNS = 6;
const DENSE_COLUMNS = 9;
const LONGEST_LABEL = 5;
const LONGEST_CAPTION = 8;

/** Buttons for the fields of a form; `act(field)` is called for a click, `type(field, key)` for keys other than arrows. */
export class Fields {
  #form;
  #squares = [];
  #type;

  constructor(form, act, type) {
    this.#form = form;
    this.#type = type;
    const [rows, columns] = [0, 1].map((axis) => 1 + Math.max(...form.fields.flatMap(({ squares }) => squares.map((one) => one[axis]))));
    this.wide = columns <= WIDE_COLUMNS;
    this.element = element("div", { class: `fields ${form.groups[0].kind}`, role: "group", "aria-label": "Fields of the position" });
    this.element.classList.toggle("dense", columns >= DENSE_COLUMNS);
    this.element.style.aspectRatio = `${columns} / ${rows}`;
    this.element.style.maxWidth = `${columns * SIDE}px`;
    this.element.style.minWidth = `${columns * LEAST_SIDE}px`;
    form.fields.forEach((field, number) => field.squares.forEach((square) => this.#add(field, number, square, act, [rows, columns])));
    this.#squares[0].button.setAttribute("tabindex", "0");
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  #add(field, number, [row, column], act, [rows, columns]) {
    const made = button("", () => act(number), { class: "field", tabindex: "-1", "data-field": number, title: field.name });
    Object.assign(made.style, { left: `${(100 * column) / columns}%`, top: `${(100 * row) / rows}%`, width: `calc(${100 / columns}% - var(--between))`, height: `calc(${100 / rows}% - var(--between))` });
    if (field.fixed) made.setAttribute("aria-disabled", "true");
    made.addEventListener("focus", () => this.#stop(made));
    this.#squares.push({ button: made, number, square: [row, column] });
    this.element.append(made);
  }

  /** Let the tab key return to the field that had the focus last. */
  #stop(focused) {
    for (const { button: one } of this.#squares) one.setAttribute("tabindex", one === focused ? "0" : "-1");
  }

  /** Show a draft; `chosen` and `wrong` contain the numbers of the selected and of the wrong fields. */
  show(symbols, chosen, wrong) {
    for (const { button: made, number, square } of this.#squares) {
      const { name, group } = this.#form.fields[number];
      const { kind, symbols: known } = this.#form.groups[group];
      const { symbol, label, colour } = known.find((one) => one.symbol === symbols[number]);
      made.replaceChildren(this.#text(kind, symbol, label), ...this.#caption(kind, name, colour));
      made.style.background = colour ?? "";
      made.style.color = colour ? inkOn(colour) : "";
      made.classList.toggle("value", kind === "values");
      made.classList.toggle("empty", label === "empty");
      made.classList.toggle("wrong", wrong.includes(number));
      made.setAttribute("aria-label", `${name}: ${label}${wrong.includes(number) ? ", wrong" : ""}`);
      if (kind !== "values") made.setAttribute("aria-pressed", String(chosen.includes(number)));
      if (kind === "blocks") this.#join(made, square, symbols);
    }
  }

  #text(kind, symbol, label) {
    if (label === "empty" || kind === "stickers") return "";
    return kind === "values" && this.wide && label.length <= LONGEST_LABEL ? label : symbol;
  }

  /** Return the name of a place that holds a value; none is needed if the value is shown as a colour on the board. */
  #caption(kind, name, colour) {
    const shown = kind === "values" && this.wide && !colour && !this.#form.groups.some(({ symbols }) => symbols.some((one) => one.colour));
    return shown && name.length <= LONGEST_CAPTION ? [element("span", { class: "caption", text: name })] : [];
  }

  /** Remove the lines between squares of the same block. */
  #join(made, [row, column], symbols) {
    const at = ([r, c]) => symbols[this.#squares.find(({ square }) => square[0] === r && square[1] === c)?.number];
    const own = at([row, column]);
    const beside = { left: [row, column - 1], right: [row, column + 1], top: [row - 1, column], bottom: [row + 1, column] };
    for (const [side, square] of Object.entries(beside)) made.classList.toggle(`open-${side}`, !made.classList.contains("empty") && at(square) === own);
  }

  #key(event) {
    const here = this.#squares.find(({ button: one }) => one === event.target);
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isArrowKey(event.key)) {
      event.preventDefault();
      this.#nearest(here, WAYS[event.key])?.focus();
    } else if (this.#type(here.number, event.key)) {
      event.preventDefault();
    }
  }

  /** Return the nearest button in a direction; buttons off to the side count as farther away. */
  #nearest({ square: [row, column] }, [down, right]) {
    const far = ({ square: [r, c] }) => {
      const [along, aside] = down ? [(r - row) * down, Math.abs(c - column)] : [(c - column) * right, Math.abs(r - row)];
      return along > 0.01 ? along + 2 * aside : Infinity;
    };
    const best = this.#squares.reduce((one, other) => (far(other) < far(one) ? other : one));
    return far(best) < Infinity ? best.button : null;
  }

  focus() {
    this.#squares.find(({ button: one }) => one.getAttribute("tabindex") === "0").button.focus();
  }
}

/** Return a colour for letters that is legible on a background such as #efe6d2. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 110 ? "#26262b" : "#ffffff";
}
