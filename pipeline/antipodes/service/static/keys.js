// Which keys are for the board, and which for what has the focus.

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

/** Whether a key is an arrow. */
export function arrowKey(key) {
  return ARROWS.has(key);
}

/** The move that a letter key means: the one of that name, with Shift its inverse; null if there is none. */
export function letterMove({ key, shiftKey }, moves) {
  if (!/^\p{L}$/u.test(key)) return null;
  const [small, capital] = [key.toLowerCase(), key.toUpperCase()].map((name) => (moves.includes(name) ? name : null));
  if (small && capital && small !== capital) return shiftKey ? capital : small;
  const name = capital ?? small;
  if (!shiftKey || name === null) return name;
  return moves.includes(`${name}'`) ? `${name}'` : null;
}

/** Whether an element takes keys as text or as its own. */
export function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

/** Let arrow keys, Home and End go through elements of which one has a stop for the tab key. */
export function roving(elements, first, act = () => {}) {
  const backward = new Set(["ArrowLeft", "ArrowUp"]);
  elements.forEach((one, at) => {
    one.setAttribute("tabindex", at === first ? "0" : "-1");
    one.addEventListener("keydown", (event) => {
      const last = elements.length - 1;
      const to = event.key === "Home" ? 0 : event.key === "End" ? last : arrowKey(event.key) ? at + (backward.has(event.key) ? -1 : 1) : null;
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

/** Act on Enter and space, as a button does. */
export function pressable(target, act) {
  target.addEventListener("click", act);
  target.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
}
