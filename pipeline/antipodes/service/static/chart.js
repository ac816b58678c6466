// Charts as SVG: the number of positions at each depth, and the distances along a walk.

import { element, formatCount, formatRounded, svgElement } from "./elements.js";
import { addRovingFocus, makePressable } from "./keys.js";

const HEIGHT = 260;
const TRAIL = 44;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 16, 14, 30];

/**
 * Return a bar chart of the number of positions at each depth. `bars` is a list of {depth, count}.
 *
 * `behind` is a list for all positions, drawn behind the bars if these count only some positions. `here` is the depth of
 * the position on the board, and `chosen` is the depth whose positions are listed. `choose(depth)` is called when the user
 * clicks a bar or chooses it with the keyboard.
 */
export function barChart({ bars, behind = null, scale, here = null, chosen = null, choose = null, width = 640, label }) {
  const first = 0;
  const last = Math.max(...[...bars, ...(behind ?? [])].map(({ depth }) => depth), 0);
  const each = (width - LEFT - RIGHT) / (last - first + 1);
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const whole = behind && Math.max(...behind.map(({ count }) => count), 1);
  const image = svgElement("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart", role: choose ? "group" : "img", "aria-label": label });
  image.append(...grid(most, scale, width), ...depths(first, last, each));
  if (behind) image.append(...behind.map((bar) => rect(bar, each, heightOf(bar.count, whole, scale), "behind")));
  const made = bars.map((bar) => barOf(bar, each, heightOf(bar.count, most, scale), { here, chosen, choose }));
  image.append(...made);
  if (choose) addRovingFocus(made, Math.max(0, bars.findIndex(({ depth }) => depth === (chosen ?? here ?? 0))));
  return image;
}

function heightOf(count, most, scale) {
  const share = scale === "log" ? Math.log10(count + 1) / Math.log10(most + 1) : count / most;
  return count > 0 ? Math.max(1.5, share * (HEIGHT - TOP - BOTTOM)) : 0;
}

function rect({ depth }, each, height, tone) {
  const gap = Math.min(2, each * 0.15);
  const place = { x: LEFT + depth * each + gap / 2, y: HEIGHT - BOTTOM - height, width: Math.max(0.5, each - gap), height };
  return svgElement("rect", { ...place, rx: Math.min(2, each / 6), class: tone });
}

/** Return a bar, with an area of full height that is easy to click. */
function barOf(bar, each, height, { here, chosen, choose }) {
  const { depth, count } = bar;
  const tones = ["bar", depth === here && "here", depth === chosen && "chosen"].filter(Boolean).join(" ");
  const words = `depth ${depth}: ${formatCount(count, "position")}${depth === here ? ", this position" : ""}`;
  const title = svgElement("title", { text: words });
  if (!choose) return svgElement("g", { class: tones }, title, rect(bar, each, height, "fill"));
  const area = svgElement("rect", { x: LEFT + depth * each, y: TOP, width: each, height: HEIGHT - TOP - BOTTOM, class: "area" });
  const keys = { role: "button", "aria-label": words, "aria-pressed": String(depth === chosen), "data-depth": depth };
  const marker = depth === here ? svgElement("circle", { cx: LEFT + (depth + 0.5) * each, cy: HEIGHT - BOTTOM + 6, r: 3, class: "marker" }) : null;
  const group = svgElement("g", { class: tones, tabindex: "-1", ...keys }, title, area, rect(bar, each, height, "fill"), marker);
  makePressable(group, () => choose(depth));
  return group;
}

function* grid(most, scale, width) {
  for (const value of ticks(most, scale)) {
    const y = HEIGHT - BOTTOM - heightOf(value, most, scale);
    yield svgElement("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "rule" });
    yield svgElement("text", { x: LEFT - 8, y, class: "tick", "text-anchor": "end", "dominant-baseline": "central", text: formatRounded(value) });
  }
  const bottom = HEIGHT - BOTTOM + 0.5;
  yield svgElement("line", { x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom, class: "axis" });
}

function ticks(most, scale) {
  if (scale === "log") {
    const powers = Math.floor(Math.log10(most));
    const step = Math.ceil((powers + 1) / 5);
    return Array.from({ length: Math.floor(powers / step) + 1 }, (_, at) => 10 ** (at * step));
  }
  const size = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((one) => one * size).find((one) => most / one <= 5 && one >= 1) ?? Math.max(1, size);
  return Array.from({ length: Math.floor(most / step) }, (_, at) => (at + 1) * step);
}

function* depths(first, last, each) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((one) => one * each >= 12 + 8 * String(last).length) ?? 5000;
  for (let next = first; next <= last; next += step) {
    const depth = next + step > last ? last : next; // the last depth is labelled instead of a multiple close to it
    const place = { x: LEFT + (depth + 0.5) * each, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" };
    yield svgElement("text", { ...place, class: "tick", text: String(depth) });
  }
}

/** Return a line chart of the distances along a walk; `choose(number)` is called when the user clicks a position's point. */
export function trailChart(entries, at, choose) {
  const [width, height, edge] = [300, TRAIL, 8];
  const most = Math.max(...entries.map(({ distance }) => distance ?? 0), 1);
  const least = Math.min(...entries.map(({ distance }) => distance ?? most));
  const span = Math.max(1, most - least);
  const each = (width - 2 * edge) / Math.max(8, entries.length - 1);
  const place = ({ distance }, number) => [edge + number * each, height - edge - (((distance ?? most) - least) / span) * (height - 2 * edge)];
  const places = entries.map(place);
  const image = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, class: "trail", role: "group", "aria-label": "Distances so far" });
  image.append(svgElement("polyline", { points: places.map((one) => one.join()).join(" "), class: "walk" }));
  const points = entries.map((entry, number) => pointOf(entry, number, places[number], { at, each, choose }));
  image.append(...points);
  addRovingFocus(points, at);
  return image;
}

function pointOf(entry, number, [x, y], { at, each, choose }) {
  const words = `step ${number}${entry.move ? `, ${entry.move}` : ""}: distance ${entry.distance ?? "not known"}`;
  const radius = Math.max(1.2, Math.min(4, each / 2.4));
  const group = svgElement("g", { class: number === at ? "point here" : "point", tabindex: "-1", role: "button", "aria-label": words });
  group.append(svgElement("title", { text: words }), svgElement("rect", { x: x - each / 2, y: 0, width: each, height: TRAIL, class: "area" }));
  group.append(svgElement("circle", { cx: x, cy: y, r: number === at ? radius + 1.5 : radius }));
  makePressable(group, () => choose(number));
  return group;
}

/** Return the counts of a chart as a table, for users who cannot see the chart. */
export function countsTable(bars) {
  const rows = bars.map(({ depth, count }) =>
    element("tr", {}, element("th", { scope: "row", text: depth }), element("td", { text: formatCount(count) })));
  const head = element("tr", {}, element("th", { scope: "col", text: "depth" }), element("th", { scope: "col", text: "positions" }));
  const table = element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...rows));
  return element("details", {}, element("summary", { text: "As numbers" }), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Positions at each depth" }, table));
}
