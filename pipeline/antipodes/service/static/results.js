// Describes distances and moves in words. A table contains distances from the start. They are also distances to the start
// if every move has an inverse; only then can a move be said to lead closer to the start.

/** Return whether some move has no inverse, so that distances from the start are not distances to the start. */
export function isOneWay({ reversible }) {
  return reversible === false;
}

/** Return the words that follow a distance. */
export function wordsAfterDistance(distance, store) {
  if (distance === 0) return describeStart(store);
  return `${distance === 1 ? "move" : "moves"} from the ${startName(store)}`;
}

/** Return the name of the position at distance 0, such as "start" or "nearest goal". */
export function startName({ depth_zero: zero, starts }) {
  return `${starts > 1 ? "nearest " : ""}${zero ?? "start"}`;
}

/** Describe a position at distance 0. */
export function describeStart({ depth_zero: zero, starts }) {
  return `this is ${starts > 1 ? "a" : "the"} ${zero ?? "start"}`;
}

/** Return why a position has no distance. */
export function reasonUnknown({ complete }) {
  return complete ? "unreachable" : "not reached yet";
}

/** Return a text with a capital first letter. */
export function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** Return a successor that is closer to the start; undefined if there is none or it is not known. */
export function bestMove(seen, store) {
  return isOneWay(store) ? undefined : seen?.successors.find(({ change }) => change < 0);
}

/**
 * Describe the result of a move: a short `sign`, `words`, a `tone` for the colour, and a `rank` to sort moves by.
 *
 * The description is the change of the distance if moves are reversible, and the new distance otherwise.
 */
export function describeResult({ distance, change }, store) {
  if (distance === null) return { sign: store.complete ? "–" : "?", words: reasonUnknown(store), tone: "unknown", rank: Infinity };
  if (isOneWay(store) || change === null) return { sign: String(distance), words: `distance ${distance}`, tone: "same", rank: distance };
  const [sign, word, tone] = change < 0 ? [`−${-change}`, "nearer", "nearer"] : change > 0 ? [`+${change}`, "farther", "farther"] : ["0", "as far", "same"];
  return { sign, words: `${word}, distance ${distance}`, tone, rank: change };
}
