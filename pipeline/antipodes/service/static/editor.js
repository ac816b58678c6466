// The editor: the user changes a draft, which may be invalid, and can put it on the board once it is a position.

import { LatestRequest, storePath } from "./api.js";
import { Blocks, Draft } from "./draft.js";
import { Fields, inkOn } from "./editor_fields.js";
import { button, element, formatCount } from "./elements.js";
import { capitalized, describeStart, startName } from "./results.js";
import { useStyles } from "./style_sheets.js";

const HINTS = {
  pieces: "Choose a piece in the row below and then its places, or choose two places to swap their pieces.",
  values: "Each click shows the next value; Backspace shows the previous one.",
  stickers: "Choose a sticker and then its colour, or choose a colour and then all stickers that get it.",
  blocks: "Choose a square of a block, and then the square to which this part of the block should go.",
};

export class Editor {
  #page;
  #context;
  #form = null;
  #draft = null;
  #blocks = null;
  #chosen = null;
  #brush = null;
  #typed = { field: null, text: "" };
  #answer = null;
  #loading = new LatestRequest();
  #checking = new LatestRequest();

  constructor(page) {
    this.#page = page;
    this.#context = page.context;
    this.hint = element("p", { class: "small muted" });
    this.place = element("div", { class: "fields-place" });
    this.palette = element("div", { class: "palette" });
    this.verdict = element("p", { class: "verdict", role: "status" });
    this.use = button("Use this position", () => this.#use(), { class: "button main" });
    this.undo = button("Undo edit", () => this.#undo(), { class: "button" });
    this.reset = button("Reset", () => this.#reset(), { class: "button", title: "Back to the position on the board" });
    for (const one of [this.use, this.undo, this.reset]) one.disabled = true;
    const acts = element("div", { class: "row" }, this.use, this.undo, this.reset);
    this.element = element("div", { class: "editor", id: "editor", role: "group", "aria-label": "Edit the position", hidden: true }, this.hint, this.place, this.palette, this.verdict, acts);
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  async toggle(opener) {
    this.element.hidden = !this.element.hidden;
    opener.setAttribute("aria-expanded", String(!this.element.hidden));
    await useStyles("editor.css");
    await this.show();
    if (!this.element.hidden) this.element.scrollIntoView({ block: "nearest" });
  }

  /** Load the position on the board, unless the draft has been edited: an edited draft stays and is checked again. */
  async show() {
    const position = this.#page.trail.here?.position;
    if (this.element.hidden || !position) return;
    if (this.#draft?.isChanged || this.#form?.position === position) return this.#check();
    try {
      const form = await this.#loading.ask((signal) => this.#context.api.get(storePath(this.#context.name, "/draft"), { position }, signal));
      if (form && !this.#draft?.isChanged) this.#fill(form);
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #fill(form) {
    const same = this.#form && sameFields(this.#form, form);
    this.#form = form;
    this.#draft = new Draft(form);
    this.#blocks = form.blocks ? new Blocks(form) : null;
    if (!same) {
      this.fields = new Fields(form, (field) => this.#clickField(field), (field, key) => this.#typeKey(field, key));
      this.place.replaceChildren(this.fields.element);
      this.hint.textContent = this.#hints();
    }
    this.#clearSelection();
    this.#show();
    this.#check();
  }

  #hints() {
    const kinds = new Set(this.#form.groups.map(({ kind }) => kind));
    return [...kinds].map((kind) => HINTS[kind]).join(" ");
  }

  #show() {
    this.#showFields();
    this.#showPalette();
    this.undo.disabled = !this.#draft.canUndo;
    this.reset.disabled = !this.#draft.isChanged;
  }

  #showFields() {
    this.fields.show(this.#draft.symbols, this.#chosenFields(), this.#answer?.wrong ?? []);
  }

  #chosenFields() {
    if (this.#chosen === null) return [];
    if (!this.#blocks) return [this.#chosen];
    return this.#draft.symbols.flatMap((symbol, field) => (symbol === this.#chosen.letter ? [field] : []));
  }

  /** Handle a click on a field, depending on the kind of field and the current selection. */
  #clickField(field) {
    const { group, fixed } = this.#form.fields[field];
    const { kind } = this.#form.groups[group];
    if (fixed) this.#refuse("This field never changes.");
    else if (kind === "values") this.#step(field, 1);
    else if (kind === "blocks") this.#actOnBlock(field);
    else if (this.#brush?.group === group) this.#change([[field, this.#brush.symbol]]);
    else if (this.#chosen === null) this.#choose(field);
    else if (kind === "pieces" && this.#chosen !== field && this.#form.fields[this.#chosen].group === group) this.#swap(this.#chosen, field);
    else this.#choose(this.#chosen === field ? null : field);
  }

  #choose(chosen) {
    this.#chosen = chosen;
    this.#brush = null;
    this.#show();
  }

  #clearSelection() {
    this.#chosen = this.#brush = null;
    this.#typed = { field: null, text: "" };
  }

  #swap(one, other) {
    const { symbols } = this.#draft;
    this.#chosen = null;
    this.#change([[one, symbols[other]], [other, symbols[one]]]);
  }

  /** Change a field to the value that is some steps further in the list of its values. */
  #step(field, steps) {
    const known = this.#symbolsOf(field);
    const at = known.findIndex(({ symbol }) => symbol === this.#draft.symbols[field]);
    this.#change([[field, known.at((at + steps) % known.length).symbol]]);
  }

  #symbolsOf(field) {
    return this.#form.groups[this.#form.fields[field].group].symbols;
  }

  /** Select the block on a square, or put the selected block there. */
  #actOnBlock(field) {
    const symbol = this.#draft.symbols[field];
    const lifted = this.#chosen;
    if (lifted === null) {
      if (symbol !== this.#blocks.empty) this.#choose({ letter: symbol, cell: this.#blocks.cellOn(this.#draft, field) });
      return;
    }
    if (symbol === lifted.letter && String(this.#blocks.cellOn(this.#draft, field)) === String(lifted.cell)) return this.#choose(null);
    const { changes, obstacle } = this.#blocks.place(this.#draft, lifted.letter, lifted.cell, field);
    if (changes) {
      this.#chosen = null;
      this.#change(changes);
    } else if (symbol !== this.#blocks.empty && symbol !== lifted.letter) {
      this.#choose({ letter: symbol, cell: this.#blocks.cellOn(this.#draft, field) });
    } else {
      this.#refuse(`Block ${lifted.letter} does not fit there: ${obstacle === null ? "it would leave the board" : `block ${obstacle} is in the way`}.`);
    }
  }

  #takeOff(letter) {
    this.#chosen = null;
    this.#change(this.#blocks.without(this.#draft, letter));
  }

  /** Show why nothing was changed, until the next edit shows a verdict on the draft again. */
  #refuse(reason) {
    this.#checking.stop();
    this.verdict.className = "verdict unsure";
    this.verdict.textContent = reason;
  }

  #showPalette() {
    const focused = this.palette.contains(document.activeElement) ? document.activeElement.dataset.symbol : null;
    const rows = this.#blocks ? [this.#blockRow()] : this.#form.groups.flatMap(({ kind }, group) => (kind === "values" ? [] : [this.#symbolRow(group)]));
    this.palette.replaceChildren(...rows);
    if (focused) [...this.palette.querySelectorAll("button")].find(({ dataset }) => dataset.symbol === focused)?.focus();
  }

  /** Return the symbols of a group as buttons; each shows how many fields hold the symbol, and how many must hold it. */
  #symbolRow(group) {
    const buttons = this.#form.groups[group].symbols.map(({ symbol, label, count, colour }) => {
      const found = this.#draft.countOf(group, symbol);
      const pressed = this.#brush?.group === group && this.#brush.symbol === symbol;
      const made = button("", () => this.#pickSymbol(group, symbol), { class: "pick", "data-symbol": `${group} ${symbol}`, "aria-pressed": String(pressed), "aria-label": `${label}: ${found} of ${count}`, title: label });
      const swatch = element("span", { class: "swatch", text: label === "empty" || this.#form.groups[group].kind === "stickers" ? "" : symbol });
      if (colour) Object.assign(swatch.style, { background: colour, color: inkOn(colour) });
      made.append(swatch, element("span", { class: `tally${found === count ? "" : " wrong"}`, text: `${found}/${count}` }));
      return made;
    });
    return element("div", { class: "row", role: "group", "aria-label": this.#form.groups[group].kind === "stickers" ? "Colours" : "Pieces" }, ...buttons);
  }

  /** Put a symbol on the selected field, or remember it for the fields that are selected next. */
  #pickSymbol(group, symbol) {
    const field = this.#chosen;
    if (field !== null && this.#form.fields[field].group === group) {
      this.#chosen = null;
      return this.#change([[field, symbol]]);
    }
    const again = this.#brush?.group === group && this.#brush.symbol === symbol;
    this.#chosen = null;
    this.#brush = again ? null : { group, symbol };
    this.#show();
  }

  /** Return buttons for the blocks off the board, and a button that takes the selected block off the board. */
  #blockRow() {
    const missing = this.#blocks.missing(this.#draft).map((letter) =>
      button(letter, () => this.#choose(this.#chosen?.letter === letter ? null : { letter, cell: this.#form.blocks[letter][0] }), {
        class: "pick", "data-symbol": letter, "aria-pressed": String(this.#chosen?.letter === letter), "aria-label": `Block ${letter}, off the board`,
      }));
    const lifted = this.#chosen?.letter;
    const off = lifted && this.#draft.symbols.includes(lifted) ? [button(`Take ${lifted} off the board`, () => this.#takeOff(lifted), { class: "button" })] : [];
    return element("div", { class: "row", role: "group", "aria-label": "Blocks off the board" }, ...missing, ...off);
  }

  #change(pairs) {
    this.#typed = { field: null, text: "" };
    if (pairs.every(([field, symbol]) => this.#draft.symbols[field] === symbol)) return this.#show();
    this.#draft.change(pairs);
    this.#edited();
  }

  #undo() {
    this.#draft.undo();
    this.#clearSelection();
    this.#edited();
  }

  #reset() {
    this.#draft.reset();
    this.#clearSelection();
    this.#edited();
    this.show(); // the board may have changed meanwhile
  }

  #edited() {
    this.#answer = null;
    const focused = document.activeElement;
    this.#show();
    if (focused?.disabled) this.fields.focus(); // after the last undo, the focused button is disabled
    this.#check();
  }

  /** Request the verdict on the draft; the draft cannot be used before it arrives. */
  async #check() {
    this.use.disabled = true;
    this.element.setAttribute("aria-busy", "true");
    const { symbols } = this.#draft;
    try {
      const answer = await this.#checking.ask((signal) => this.#context.api.post(storePath(this.#context.name, "/draft"), { symbols }, signal));
      if (answer && symbols === this.#draft.symbols) this.#showVerdict(answer);
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #showVerdict(answer) {
    this.#answer = answer;
    this.element.setAttribute("aria-busy", "false");
    const onBoard = answer.position === this.#page.trail.here?.position;
    const focused = document.activeElement === this.use;
    this.use.disabled = onBoard || !["reached", "not reached yet"].includes(answer.verdict);
    if (focused && this.use.disabled) this.fields.focus();
    this.verdict.className = `verdict ${TONES[answer.verdict]}`;
    this.verdict.textContent = this.#verdictText(answer, onBoard);
    this.#showFields(); // the palette stays, because a button that is replaced while it is pressed is not clicked
  }

  #verdictText({ verdict, reason, distance }, onBoard) {
    if (verdict !== "reached") return `${SENTENCES[verdict]}: ${reason}.`;
    const { store } = this.#context;
    const far = distance === 0 ? capitalized(describeStart(store)) : `${formatCount(distance, "move")} from the ${startName(store)}`;
    return onBoard ? `${far}; it is on the board.` : `${far}.`;
  }

  #use() {
    const { position } = this.#answer;
    this.#draft = new Draft({ ...this.#form, fields: this.#form.fields.map((field, at) => ({ ...field, symbol: this.#draft.symbols[at] })) });
    this.#context.succeed();
    this.#page.go(position);
    this.#page.stage.board.focus({ preventScroll: true });
  }

  /** Handle a key on a field, except arrow keys: enter a symbol, go back to the previous value, or remove a block. */
  #typeKey(field, key) {
    const { kind } = this.#form.groups[this.#form.fields[field].group];
    if (key === "Backspace" || key === "Delete") return this.#deleteKey(field, kind);
    if (key.length !== 1 || key === " " || kind === "blocks" || this.#form.fields[field].fixed) return false;
    const before = this.#typed.field === field ? this.#typed.text : "";
    const found = this.#symbolNamed(field, `${before}${key}`) ?? this.#symbolNamed(field, key);
    if (found) this.#change([[field, found]]);
    this.#typed = { field, text: found ?? "" };
    return found !== undefined;
  }

  /** Return the symbol that a text names for a field, ignoring case. */
  #symbolNamed(field, text) {
    const symbols = this.#symbolsOf(field).map(({ symbol }) => symbol);
    return symbols.find((symbol) => symbol === text) ?? symbols.find((symbol) => symbol.toLowerCase() === text.toLowerCase());
  }

  #deleteKey(field, kind) {
    const symbol = this.#draft.symbols[field];
    if (kind === "values") this.#step(field, -1);
    else if (kind === "blocks" && symbol !== this.#blocks.empty) this.#takeOff(symbol);
    else return false;
    return true;
  }

  /** Handle keys pressed in the editor, so that they do not reach the board. */
  #key(event) {
    const withControl = event.ctrlKey || event.metaKey;
    if (event.key.length === 1 && !withControl) event.stopPropagation();
    if (withControl && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (this.#draft?.canUndo && !event.shiftKey) this.#undo();
    } else if (event.key === "Escape" && (this.#chosen !== null || this.#brush !== null)) {
      event.preventDefault();
      this.#clearSelection();
      this.#show();
    }
  }
}

const TONES = { invalid: "bad", unreachable: "bad", "not reached yet": "unsure", reached: "good" };
const SENTENCES = { invalid: "This is not a position", unreachable: "This is unreachable", "not reached yet": "Not reached yet" };

/** Return whether two forms have the same fields, so that the buttons can be reused. */
function sameFields(one, other) {
  const text = ({ groups, fields }) => JSON.stringify([groups, fields.map(({ symbol, ...rest }) => rest)]);
  return text(one) === text(other);
}
