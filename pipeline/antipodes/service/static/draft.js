// A draft of a position: a symbol for each field, with undo, and rules for placing blocks.

/** The symbols of a form that the user edits; the service checks them, not this class. */
export class Draft {
  #form;
  #before = [];

  constructor(form) {
    this.#form = form;
    this.symbols = form.fields.map(({ symbol }) => symbol);
  }

  get isChanged() {
    return this.symbols.some((symbol, at) => symbol !== this.#form.fields[at].symbol);
  }

  get canUndo() {
    return this.#before.length > 0;
  }

  /** Change several fields in one edit; `pairs` contains pairs of a field's number and its new symbol. */
  change(pairs) {
    this.#before.push(this.symbols);
    this.symbols = [...this.symbols];
    for (const [field, symbol] of pairs) this.symbols[field] = symbol;
  }

  undo() {
    this.symbols = this.#before.pop() ?? this.symbols;
  }

  /** Restore the position of the form; this can be undone, too. */
  reset() {
    this.change(this.#form.fields.map(({ symbol }, at) => [at, symbol]));
  }

  /** Return the number of fields of a group that hold a symbol. */
  countOf(group, symbol) {
    return this.symbols.filter((one, at) => one === symbol && this.#form.fields[at].group === group).length;
  }
}

/** The blocks of a form: the squares that they cover, and obstacles to placing them. */
export class Blocks {
  #form;
  #at;

  constructor(form) {
    this.#form = form;
    this.#at = new Map(form.fields.map(({ squares: [square] }, field) => [String(square), field]));
    this.empty = form.groups[0].symbols[0].symbol;
  }

  /** Return the letters of the blocks that are not on the board of a draft. */
  missing(draft) {
    return Object.keys(this.#form.blocks).filter((letter) => !draft.symbols.includes(letter));
  }

  /** Return the cell of the block that is on a field, relative to the block's first cell: [down, right]. */
  cellOn(draft, field) {
    const first = draft.symbols.indexOf(draft.symbols[field]);
    const [[top, left], [row, column]] = [first, field].map((one) => this.#form.fields[one].squares[0]);
    return [row - top, column - left];
  }

  /** Place a block so that one of its cells is on a field; return {changes}, or {obstacle: the block in the way, or null for the edge}. */
  place(draft, letter, [down, right], field) {
    const [row, column] = this.#form.fields[field].squares[0];
    const covered = this.#form.blocks[letter].map(([r, c]) => this.#at.get(String([row - down + r, column - right + c])));
    if (covered.includes(undefined)) return { obstacle: null };
    const obstacle = covered.map((one) => draft.symbols[one]).find((symbol) => symbol !== this.empty && symbol !== letter);
    if (obstacle) return { obstacle };
    return { changes: [...this.without(draft, letter), ...covered.map((one) => [one, letter])] };
  }

  /** Return the changes that take a block off the board. */
  without(draft, letter) {
    return draft.symbols.flatMap((symbol, field) => (symbol === letter ? [[field, this.empty]] : []));
  }
}
