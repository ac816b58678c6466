// What a distance and a move mean, in words. A table has distances from the start: only where each move has an inverse
// are they distances to the start, too, so that a move can lead nearer to it.

/** Whether some move has no inverse: distances are then from the start, and no move is said to lead nearer to it. */
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

/** What a position at distance 0 is. */
export function atZero({ depth_zero: zero, starts }) {
  return `this is ${starts > 1 ? "a" : "the"} ${zero ?? "start"}`;
}

/** Why a position has no distance. */
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
 * What a move leads to: a short `sign`, the `words` of it, a `tone` for its colour, and its `rank` among other moves.
 *
 * That is how the distance changes, if it is the distance to the start, too; else it is the distance itself.
 */
export function resultOf({ distance, change }, store) {
  if (distance === null) return { sign: store.complete ? "–" : "?", words: unknown(store), tone: "unknown", rank: Infinity };
  if (isOneWay(store) || change === null) return { sign: String(distance), words: `distance ${distance}`, tone: "same", rank: distance };
  const [sign, word, tone] = change < 0 ? [`−${-change}`, "nearer", "nearer"] : change > 0 ? [`+${change}`, "farther", "farther"] : ["0", "as far", "same"];
  return { sign, words: `${word}, distance ${distance}`, tone, rank: change };
}
