// Distances and moves in words. A table contains distances from the start. Only if every move has an inverse
// are they also distances to the start, so that a move can lead closer to it.

/** Whether some move has no inverse: distances are then from the start, and no move is described as leading closer to it. */
export function isOneWay({ reversible }) {
  return reversible === false;
}

/** The words after a distance. */
export function wordsOf(distance, store) {
  if (distance === 0) return atZero(store);
  return `${distance === 1 ? "move" : "moves"} from the ${zeroOf(store)}`;
}

/** The word for the positions at distance 0. */
export function zeroOf({ depth_zero: zero, starts }) {
  return `${starts > 1 ? "nearest " : ""}${zero ?? "start"}`;
}

/** Describe a position at distance 0. */
export function atZero({ depth_zero: zero, starts }) {
  return `this is ${starts > 1 ? "a" : "the"} ${zero ?? "start"}`;
}

/** Return why a position has no distance. */
export function unknown({ complete }) {
  return complete ? "unreachable" : "not reached yet";
}

/** A text that begins with a capital letter. */
export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** A move of a shortest path to the start from a position, or undefined. */
export function bestMove(seen, store) {
  return isOneWay(store) ? undefined : seen?.successors.find(({ change }) => change < 0);
}

/**
 * Describe the result of a move: a short `sign`, `words`, a `tone` for its colour, and its `rank` among other moves.
 *
 * The description is the change of the distance if it is also the distance to the start, otherwise the distance itself.
 */
export function resultOf({ distance, change }, store) {
  if (distance === null) return { sign: store.complete ? "–" : "?", words: unknown(store), tone: "unknown", rank: Infinity };
  if (isOneWay(store) || change === null) return { sign: String(distance), words: `distance ${distance}`, tone: "same", rank: distance };
  const [sign, word, tone] = change < 0 ? [`−${-change}`, "nearer", "nearer"] : change > 0 ? [`+${change}`, "farther", "farther"] : ["0", "as far", "same"];
  return { sign, words: `${word}, distance ${distance}`, tone, rank: change };
}
