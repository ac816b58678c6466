// Decides which keys control the board, and which belong to the focused element.

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

/** Return whether a key is an arrow key. */
export function isArrowKey(key) {
  return ARROWS.has(key);
}

/** Return the name of the move for a letter key, or of its inverse if Shift is pressed; null if there is none. */
export function letterMove({ key, shiftKey }, moves) {
  if (!/^\p{L}$/u.test(key)) return null;
  const [small, capital] = [key.toLowerCase(), key.toUpperCase()].map((name) => (moves.includes(name) ? name : null));
  if (small && capital && small !== capital) return shiftKey ? capital : small;
  const name = capital ?? small;
  if (!shiftKey || name === null) return name;
  return moves.includes(`${name}'`) ? `${name}'` : null;
}

/** Return whether an element handles keys itself, for example as text. */
export function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

/** Let arrow keys, Home and End move the focus in a group of elements with a single tab stop. */
export function addRovingFocus(elements, first, act = () => {}) {
  const backward = new Set(["ArrowLeft", "ArrowUp"]);
  elements.forEach((one, at) => {
    one.setAttribute("tabindex", at === first ? "0" : "-1");
    one.addEventListener("keydown", (event) => {
      const last = elements.length - 1;
      const to = event.key === "Home" ? 0 : event.key === "End" ? last : isArrowKey(event.key) ? at + (backward.has(event.key) ? -1 : 1) : null;
      if (to === null) return;
      event.preventDefault();
      event.stopPropagation();
      const next = elements[Math.max(0, Math.min(last, to))];
      elements.forEach((other) => other.setAttribute("tabindex", other === next ? "0" : "-1"));
      next.focus();
      act(next);
    });
  });
}

/** Make an element react to clicks, Enter and space, like a button. */
export function makePressable(target, act) {
  target.addEventListener("click", act);
  target.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
}
