// Draws tilings as SVG: an area for each piece, and lines between the pieces. The layers of a box are side by side.

import { svgElement } from "./elements.js";

const [SIDE, GAP, EDGE] = [24, 10, 1.6];
const [BORDER, HOLLOW, INK, PAPER] = ["#2b2b33", "#8a8a9033", "#1b1c20", "#ffffff"];

/** The layout of a board: where its cells are drawn, and to which piece each label belongs. */
export class Plan {
  /** `board` is the JSON of /board. */
  constructor(board) {
    this.board = board;
    this.width = board.layers * board.columns * SIDE + (board.layers - 1) * GAP;
    this.height = board.rows * SIDE;
    this.numbers = new Map(board.cells.map((cell, number) => [cell.join(), number]));
    this.pieces = new Map(board.pieces.flatMap((piece) => piece.labels.map((label) => [label, piece])));
  }

  /** Return the upper left corner of a cell. */
  corner(cell) {
    const [layer, row, column] = cell.length === 3 ? cell : [0, ...cell];
    return [layer * (this.board.columns * SIDE + GAP) + column * SIDE, row * SIDE];
  }

  /** Return the labels of a tiling's pieces in the order in which they are placed: each covers the first empty cell. */
  order(pieces) {
    const first = (label) => Math.min(...pieces[label].map((cell) => this.numbers.get(cell.join())));
    return Object.keys(pieces).sort((a, b) => first(a) - first(b));
  }
}

/** Draw a tiling, {label: cells}; `laid` is the number of pieces to show, `named` adds their names. */
export function tilingPicture(plan, pieces, { laid = Infinity, named = false, label = "" } = {}) {
  const image = svgElement("svg", { viewBox: `-1 -1 ${plan.width + 2} ${plan.height + 2}`, xmlns: "http://www.w3.org/2000/svg", class: "tiling" });
  if (label) image.setAttribute("aria-label", label);
  image.setAttribute(label ? "role" : "aria-hidden", label ? "img" : "true");
  const [shown, owner] = [plan.order(pieces).slice(0, laid), new Map()];
  shown.forEach((one) => pieces[one].forEach((cell) => owner.set(cell.join(), one)));
  const empty = plan.board.cells.filter((cell) => !owner.has(cell.join()));
  if (empty.length) image.append(area(plan, empty, HOLLOW));
  image.append(...shown.map((one) => area(plan, pieces[one], shaded(plan.pieces.get(one), pieces[one]))));
  image.append(svgElement("path", { d: borders(plan, owner), fill: "none", stroke: BORDER, "stroke-width": EDGE, "stroke-linecap": "round" }));
  if (named) image.append(...shown.map((one) => name(plan, pieces[one], plan.pieces.get(one))));
  return image;
}

/** Return black or white, whichever has more contrast to a colour. */
export function inkOn(colour) {
  const light = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  const luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  return (luminance + 0.05) ** 2 > 1.05 * 0.061 ? INK : PAPER;
}

/** Return a tiling as text: a symbol for each cell, "#" for a hole, "·" for an empty cell, a blank line between layers. */
export function tilingText(plan, pieces) {
  const symbols = symbolsOf(plan.board.pieces.map(({ name }) => name));
  const ofLabel = (label) => symbols.get(plan.pieces.get(label).name);
  const at = new Map(Object.entries(pieces).flatMap(([label, cells]) => cells.map((cell) => [cell.join(), ofLabel(label)])));
  const { layers, rows, columns } = plan.board;
  const symbol = (...place) => (plan.numbers.has(place.join()) ? at.get(place.join()) ?? "·" : "#");
  const each = (count, make, between) => Array.from({ length: count }, (_, number) => make(number)).join(between);
  const line = (...above) => each(columns, (column) => symbol(...above, column), "");
  return each(layers, (layer) => each(rows, (row) => (layers > 1 ? line(layer, row) : line(row)), "\n"), "\n\n");
}

/** Return a character for each name: the name itself if it is one character, else one of its characters, else any. */
function symbolsOf(names) {
  const taken = new Set(names.filter((name) => name.length === 1));
  const free = (name) => [...name, ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"].find((one) => !taken.has(one)) ?? "?";
  const symbols = new Map();
  for (const name of names) {
    symbols.set(name, name.length === 1 ? name : free(name));
    taken.add(symbols.get(name));
  }
  return symbols;
}

/** Return a picture as the text of an SVG file. */
export function svgText(image) {
  const copy = image.cloneNode(true);
  copy.setAttribute("width", image.viewBox.baseVal.width * 2);
  copy.setAttribute("height", image.viewBox.baseVal.height * 2);
  return new XMLSerializer().serializeToString(copy);
}

/** Return a picture as a PNG with four pixels per unit. */
export async function pngOf(image) {
  const loaded = new Image();
  loaded.src = URL.createObjectURL(new Blob([svgText(image)], { type: "image/svg+xml" }));
  try {
    await loaded.decode();
    const { width, height } = image.viewBox.baseVal;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [4 * width, 4 * height];
    canvas.getContext("2d").drawImage(loaded, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(loaded.src);
  }
}

/** Return the colour of a piece. If the piece has several copies, upright ones are darker, so that copies can be told apart. */
function shaded({ colour, count }, cells) {
  const span = (at) => new Set(cells.map((cell) => cell.at(at))).size;
  if (count < 2 || span(-2) <= span(-1)) return colour;
  const parts = [1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * 0.78));
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function area(plan, cells, fill) {
  const squares = cells.map((cell) => plan.corner(cell)).map(([x, y]) => `M${x} ${y}h${SIDE}v${SIDE}h${-SIDE}z`);
  const seams = fill === HOLLOW ? {} : { stroke: fill, "stroke-width": 0.5 };
  return svgElement("path", { d: squares.join(""), fill, ...seams });
}

/** Return the path of the lines between cells of different pieces and around the board. */
function borders(plan, owner) {
  const lines = [];
  for (const cell of plan.board.cells) {
    const [x, y] = plan.corner(cell);
    const mine = owner.get(cell.join());
    const differs = (down, right) => {
      const other = [...cell.slice(0, -2), cell.at(-2) + down, cell.at(-1) + right].join();
      return !plan.numbers.has(other) || owner.get(other) !== mine;
    };
    if (differs(0, 1)) lines.push(`M${x + SIDE} ${y}v${SIDE}`);
    if (differs(1, 0)) lines.push(`M${x} ${y + SIDE}h${SIDE}`);
    if (differs(0, -1)) lines.push(`M${x} ${y}v${SIDE}`);
    if (differs(-1, 0)) lines.push(`M${x} ${y}h${SIDE}`);
  }
  return lines.join("");
}

/** Draw the name of a piece on the cell closest to its centre; if it is in several layers, once per layer. */
function name(plan, cells, { name: text, colour, count }) {
  const layers = byLayer(cells);
  const size = Math.min(SIDE * 0.5, (SIDE * 1.45) / Math.max(1, text.length));
  const font = { "font-size": size, "font-family": "system-ui, sans-serif", "font-weight": 650, fill: inkOn(shaded({ colour, count }, cells)) };
  const place = { "text-anchor": "middle", "dominant-baseline": "central" };
  const texts = layers.map((here) => {
    const [x, y] = central(here.map((cell) => plan.corner(cell)));
    return svgElement("text", { x: x + SIDE / 2, y: y + SIDE / 2, ...place, ...font, text });
  });
  return svgElement("g", {}, ...texts);
}

function central(corners) {
  const mean = [0, 1].map((k) => corners.reduce((sum, corner) => sum + corner[k], 0) / corners.length);
  const far = ([x, y]) => Math.hypot(x - mean[0], y - mean[1]);
  return corners.reduce((best, corner) => (far(corner) < far(best) - 1e-6 ? corner : best));
}

function byLayer(cells) {
  const numbers = new Set(cells.map((cell) => cell.at(-3) ?? 0));
  return [...numbers].map((layer) => cells.filter((cell) => (cell.at(-3) ?? 0) === layer));
}
