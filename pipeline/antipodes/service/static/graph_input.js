// Translates drags, pinches, turns of the wheel and clicks on a stage into actions on a picture.

const STILL = 5;

/** Call `act.pan(right, down)`, `act.enlarge(factor, point)`, `act.click(point)`, `act.hover(point or null)`. */
export function listenToInput(stage, act) {
  const held = new Map();
  let travelled = 0;

  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button")) return;
    stage.setPointerCapture(event.pointerId);
    held.set(event.pointerId, pointOf(stage, event));
    travelled = held.size > 1 ? Infinity : 0;
    stage.focus({ preventScroll: true });
  });
  stage.addEventListener("pointermove", (event) => {
    const point = pointOf(stage, event);
    const before = held.get(event.pointerId);
    if (!before) return act.hover(event.target.closest("button") ? null : point);
    travelled += Math.hypot(point[0] - before[0], point[1] - before[1]);
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(act, other, before, point);
    else if (travelled > STILL) act.pan(point[0] - before[0], point[1] - before[1]);
    held.set(event.pointerId, point);
  });
  stage.addEventListener("pointerup", (event) => {
    if (held.delete(event.pointerId) && travelled <= STILL) act.click(pointOf(stage, event));
  });
  stage.addEventListener("pointercancel", (event) => held.delete(event.pointerId));
  stage.addEventListener("pointerleave", () => act.hover(null));
  stage.addEventListener("wheel", (event) => wheel(stage, act, event), { passive: false });
}

function wheel(stage, act, event) {
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
  act.enlarge(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), pointOf(stage, event));
}

/** Handle a step of a pinch, in which one finger moves and the other stays. */
function pinch(act, still, before, now) {
  const apart = (point) => Math.max(8, Math.hypot(point[0] - still[0], point[1] - still[1]));
  const middle = (point) => [(point[0] + still[0]) / 2, (point[1] + still[1]) / 2];
  const [from, to] = [middle(before), middle(now)];
  act.pan(to[0] - from[0], to[1] - from[1]);
  act.enlarge(apart(now) / apart(before), to);
}

function pointOf(stage, event) {
  const { left, top } = stage.getBoundingClientRect();
  return [event.clientX - left - stage.clientLeft, event.clientY - top - stage.clientTop];
}
