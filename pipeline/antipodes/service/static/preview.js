// A preview of a move: while the pointer or the focus is on its button, the board shows the position after the move.

/** Make a button preview a successor on the stage, with a label for screen readers; return the button. */
export function withPreview(made, stage, { picture }, label) {
  if (!picture) return made;
  const show = () => stage.preview(picture, label);
  const hide = () => stage.endPreview();
  made.addEventListener("pointermove", (event) => hasPointerMoved(event) && show());
  made.addEventListener("pointerleave", hide);
  made.addEventListener("focus", () => made.matches(":focus-visible") && show());
  made.addEventListener("blur", hide);
  return made;
}

let last = "";
let moving = false;

/** Return whether the pointer has moved; a button that appears under a resting pointer shows no preview. */
function hasPointerMoved({ pointerType }) {
  return pointerType !== "touch" && moving;
}

function trackPointer({ type, clientX, clientY }) {
  const here = `${clientX} ${clientY}`;
  moving = type === "pointermove" && here !== last;
  last = here;
}

for (const type of ["pointermove", "pointerdown"]) document.addEventListener(type, trackPointer, { capture: true });
