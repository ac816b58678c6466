// Creates elements of the page without markup, so that text from a store is never interpreted as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Create an HTML element. `attributes` may contain `text`, `on` ({event: handler}) and boolean properties. */
export function element(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
export function svgElement(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

function fillElement(made, { text, on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const [event, handler] of Object.entries(on)) made.addEventListener(event, handler);
  if (text !== undefined) made.textContent = text;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Create a button with a label. */
export function button(text, act, attributes = {}) {
  return element("button", { type: "button", text, on: { click: act }, ...attributes });
}

/** Format a whole number like the command line does: 12,345. */
export function formatCount(number, noun) {
  const digits = String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return noun ? `${digits} ${noun}${String(number) === "1" ? "" : "s"}` : digits;
}

/** Format a number in short form: 12.3 million. */
export function formatRounded(number) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(number);
}

/** Round a fraction to a percentage, with more digits near 0 and 1; a fraction below 1 is never shown as 100 %. */
export function formatPercent(part) {
  const digits = part > 0.999 ? 4 : part > 0.99 || part < 0.1 ? 1 : 0;
  const unit = 10 ** (digits + 2);
  return part < 1 ? `${(Math.min(Math.round(unit * part), unit - 1) / 10 ** digits).toFixed(digits)} %` : "100 %";
}

/** Return the name of the move to a successor; if it has none, its number among the legal moves. */
export function nameOf(successor, successors) {
  return successor.move ?? `move ${successors.indexOf(successor) + 1}`;
}
