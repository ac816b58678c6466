// Draws pictures of positions as SVG, and compares two pictures to find the pieces that a move moves.
//
// A picture is {width, height, shapes}. Shapes that belong together form a piece, such as a tile and its symbol, or the
// squares of a block. Comparing pieces works for every family, so the board of any puzzle can be clicked, dragged and
// animated.

import { svgElement } from "./elements.js";

const PAPER = "#ffffff";
const INK = "#26262b";
const LINE = "#8a8a90";
const HOLLOW = "#5a5a60";
const TOLERANCE = 0.51;
const DRAW = { rectangle, disc, line, text, region, polygon };

/** Return a picture as an <svg> with one group per piece; screen readers read `label`. */
export function drawPicture(picture, label, { plain = false } = {}) {
  const { width, height } = picture;
  const image = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "picture" });
  image.setAttribute("aria-label", label ?? "");
  if (!label) image.setAttribute("aria-hidden", "true");
  piecesOf(picture).forEach((piece, number) => image.append(drawPiece(piece, number, plain)));
  return image;
}

/** Return the pieces of a picture: {shapes, box: [left, top, right, bottom], fixed, look, plainLook}. */
export function piecesOf(picture) {
  const pieces = [];
  for (const shape of picture.shapes) {
    const box = boxOf(shape);
    const last = pieces.at(-1);
    if (last && belongs(shape, box, last)) add(last, shape, box);
    else pieces.push(newPiece(shape, box, isFixed(shape, picture)));
  }
  for (const piece of pieces) {
    piece.look = lookOf(piece, true);
    piece.plainLook = lookOf(piece, false);
  }
  return pieces;
}

/** Return how two pictures differ: {moved: [{from, to}], gone, come}. `gone` are pieces of `before`, `come` of `after`. */
export function difference(before, after) {
  const [old, young] = [piecesOf(before), piecesOf(after)];
  const [gone, come] = [withoutSame(old, young, "look"), withoutSame(young, old, "look")];
  const moved = [...pairPieces(gone, come, "look"), ...pairPieces(gone, come, "plainLook")];
  return { moved, gone, come };
}

/** Return the centre of a piece. */
export function middle({ box: [left, top, right, bottom] }) {
  return [(left + right) / 2, (top + bottom) / 2];
}

/** Return whether a point is within a piece. */
export function within([x, y], { box: [left, top, right, bottom], shapes }) {
  const boxed = x >= left && x <= right && y >= top && y <= bottom;
  return boxed && (shapes?.length === 1 && shapes[0].kind === "polygon" ? withinPolygon([x, y], shapes[0]) : true);
}

/** Return whether a point is within a polygon: a ray to the right then crosses an odd number of its sides. */
function withinPolygon([px, py], { x, y, points }) {
  const corners = points.map(([right, down]) => [x + right, y + down]);
  const crossed = corners.filter(([ax, ay], at) => {
    const [bx, by] = corners[(at + 1) % corners.length];
    return ay > py !== by > py && px < ax + ((py - ay) / (by - ay)) * (bx - ax);
  });
  return crossed.length % 2 === 1;
}

/** Return the point of a picture under the pointer. */
export function pointAt(image, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(image.getScreenCTM().inverse());
  return [point.x, point.y];
}

function newPiece(shape, box, fixed) {
  return { shapes: [shape], box, fixed, named: false };
}

function add(piece, shape, box) {
  piece.shapes.push(shape);
  piece.named ||= shape.kind === "text";
  const [a, b] = [piece.box, box];
  piece.box = [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

/** Return whether a shape is part of the background: the white board, a hole, or the border of a turntable. */
function isFixed(shape, { width, height, shapes }) {
  if (shape.kind === "disc") return shape.fill === INK || shape.fill === "none";
  if (shape.fill === HOLLOW) return true;
  return shape === shapes[0] && shape.fill === PAPER && shape.width * shape.height > 0.6 * width * height;
}

function belongs(shape, box, piece) {
  if (piece.fixed || piece.named || piece.shapes[0].kind === "line" || piece.shapes[0].kind === "text") return false;
  if (shape.kind === "text") return within([shape.x, shape.y], piece);
  if (inside(box, piece.box)) return true;
  return isCell(shape) && isCell(piece.shapes[0]) && touches(shape, piece);
}

/** Return whether a shape is a square of a block; it has no outline, because separate lines show the block's edges. */
function isCell(shape) {
  return shape.kind === "rectangle" && shape.outline === null;
}

function touches(shape, { shapes }) {
  const beside = (one) => Math.abs(one.x - shape.x) + Math.abs(one.y - shape.y) < shape.width + TOLERANCE;
  return shapes.some((one) => one.kind === "rectangle" && one.fill === shape.fill && beside(one));
}

function inside(box, [left, top, right, bottom]) {
  const [a, b] = [left - TOLERANCE, top - TOLERANCE];
  return box[0] >= a && box[1] >= b && box[2] <= right + TOLERANCE && box[3] <= bottom + TOLERANCE;
}

function boxOf(shape) {
  const { kind, x, y } = shape;
  if (kind === "rectangle") return [x, y, x + shape.width, y + shape.height];
  if (kind === "disc") return [x - shape.radius, y - shape.radius, x + shape.radius, y + shape.radius];
  if (kind === "text") return [x - shape.size / 2, y - shape.size / 2, x + shape.size / 2, y + shape.size / 2];
  if (kind === "region") return regionBox(shape);
  if (kind === "polygon") return polygonBox(shape);
  const [ax, bx, ay, by] = [x, shape.end_x, y, shape.end_y];
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}

function regionBox({ x, y, squares, side }) {
  const [rows, columns] = [squares.map(([row]) => row), squares.map(([, column]) => column)];
  const [top, left] = [Math.min(...rows), Math.min(...columns)];
  return [x + left * side, y + top * side, x + (Math.max(...columns) + 1) * side, y + (Math.max(...rows) + 1) * side];
}

function polygonBox({ x, y, points }) {
  const [rights, downs] = [points.map(([right]) => right), points.map(([, down]) => down)];
  return [x + Math.min(...rights), y + Math.min(...downs), x + Math.max(...rights), y + Math.max(...downs)];
}

/** Return a string that is equal for two pieces that look the same; unless `lettered`, letters are ignored. */
function lookOf({ shapes, box: [left, top], fixed }, lettered) {
  const at = (value, origin) => Math.round((value - origin) * 4);
  const kept = shapes.filter((shape) => lettered || shape.kind !== "text" || shapes.length === 1);
  const parts = kept.map(({ x, y, end_x, end_y, ...rest }) => {
    const end = end_x === undefined ? [] : [at(end_x, left), at(end_y, top)];
    return JSON.stringify([at(x, left), at(y, top), end, rest]);
  });
  return `${fixed ? "board " : ""}${parts.sort().join()}`;
}

/** Return the pieces of one picture that do not occur unchanged at the same place in the other picture. */
function withoutSame(pieces, others, look) {
  const at = (piece) => `${piece.box.map((value) => Math.round(value * 4))} ${piece[look]}`;
  const there = new Set(others.map(at));
  return pieces.filter((piece) => !piece.fixed && !there.has(at(piece)));
}

/** Pair pieces with the same look, the closest pairs first; paired pieces are removed from their lists. */
function pairPieces(gone, come, look) {
  const close = [];
  for (const from of gone.filter((piece) => !isLight(piece))) {
    for (const to of come) {
      if (from[look] === to[look]) close.push({ from, to, far: Math.hypot(...vector(from, to)) });
    }
  }
  close.sort((a, b) => a.far - b.far);
  return close.filter(({ from, to }) => {
    if (!gone.includes(from) || !come.includes(to)) return false;
    gone.splice(gone.indexOf(from), 1);
    come.splice(come.indexOf(to), 1);
    return true;
  });
}

/** Return whether a piece changes in place (a disc without a letter) instead of moving. */
function isLight({ shapes }) {
  return shapes.length === 1 && shapes[0].kind === "disc";
}

/** Return by how much a piece moves: [right, down]. */
export function vector(from, to) {
  return [to.box[0] - from.box[0], to.box[1] - from.box[1]];
}

function drawPiece(piece, number, plain) {
  const made = svgElement("g", { "data-piece": number, class: piece.fixed ? "fixed" : "piece" });
  const solid = piece.shapes[0].kind === "rectangle" || piece.shapes[0].kind === "disc";
  made.append(...piece.shapes.map((shape) => DRAW[shape.kind](shape, plain ? null : tone(shape, piece, solid))));
  return made;
}

/** Return the class that gives a shape a colour of the theme; null for most shapes of a piece, which keep their colour. */
function tone(shape, piece, solid) {
  if (shape.fill === PAPER && (piece.fixed || shape.kind === "disc")) return "paper";
  if (piece.fixed) return { [HOLLOW]: "hollow", [INK]: "ink-fill" }[shape.fill] ?? "soft-line";
  if (solid) return null;
  if (shape.kind === "text") return shape.colour === INK ? "ink-fill" : null;
  return { [INK]: "ink-line", [LINE]: "soft-line" }[shape.colour] ?? null;
}

function rectangle({ x, y, width, height, fill, outline, rounded }, tone) {
  const edge = { stroke: outline ?? fill, "stroke-width": outline ? 1.2 : 1.5 }; // an outline in the fill colour hides the seams of a block
  return svgElement("rect", { x, y, width, height, fill, rx: rounded || null, class: tone, ...edge });
}

function disc({ x, y, radius, fill, outline }, tone) {
  return svgElement("circle", { cx: x, cy: y, r: radius, fill, stroke: outline, "stroke-width": outline && 1.2, class: tone });
}

function line({ x, y, end_x, end_y, colour, width }, tone) {
  const ends = { x1: x, y1: y, x2: end_x, y2: end_y };
  return svgElement("line", { ...ends, stroke: colour, "stroke-width": width, "stroke-linecap": "round", class: tone });
}

function text({ x, y, text, size, colour }, tone) {
  const place = { x, y, "text-anchor": "middle", "dominant-baseline": "central" };
  const font = { "font-family": "system-ui, sans-serif", "font-weight": 600 };
  return svgElement("text", { ...place, ...font, "font-size": size, fill: colour, class: tone, text });
}

function region({ x, y, squares, side, fill }, tone) {
  const path = squares.map(([row, column]) => `M${x + column * side} ${y + row * side}h${side}v${side}h${-side}z`);
  return svgElement("path", { d: path.join(""), fill, stroke: fill, "stroke-width": 0.6, class: tone });
}

function polygon({ x, y, points, fill, outline }, tone) {
  const corners = points.map(([right, down]) => `${x + right},${y + down}`);
  return svgElement("polygon", { points: corners.join(" "), fill, stroke: outline, "stroke-width": outline && 1.2, "stroke-linejoin": "round", class: tone });
}
