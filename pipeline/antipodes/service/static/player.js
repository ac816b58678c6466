// Plays a shortest path on the board, one position after another.

import { Problem } from "./api.js";
import { CachedRequest } from "./cached_request.js";
import { startName } from "./results.js";
import { prefersReducedMotion } from "./stage.js";

/** Milliseconds per step. Long paths are played faster: if possible, a path takes at most `all` milliseconds. */
const STEP = { slowest: 620, fastest: 220, all: 25_000 };
/** Fraction of a step during which a piece glides. */
const GLIDE = 0.6;

/** Requests a shortest path when it is needed, and plays it. */
export class Player {
  #page;
  #request;
  #timer = 0;
  #turn = 0;
  playing = false;

  constructor(page) {
    this.#page = page;
    this.#request = new CachedRequest(page.context);
  }

  /** Return the JSON of /path for a position; undefined if another path was requested meanwhile. */
  path(position) {
    return this.#request.ask("/path", { position });
  }

  /** Play the path to the start or, if moves are irreversible, from the start to the position. */
  async play() {
    const { context, trail } = this.#page;
    const turn = ++this.#turn;
    this.playing = true;
    this.#page.entry.drop(); // cancel a jump that was requested before
    this.#page.readout.show();
    try {
      const found = await this.path(trail.here.position);
      if (!found || turn !== this.#turn) return; // paused meanwhile, or the board shows another position
      if (!found.path) throw new Problem(`no path is known between here and the ${startName(context.store)}`);
      this.#run(stepsInOrder(found, context.store));
    } catch (error) {
      if (turn !== this.#turn) return;
      this.pause();
      context.fail(error);
    }
  }

  #run(steps) {
    const [first, ...rest] = steps;
    if (first.position !== this.#page.trail.here.position) this.#page.put(first, null);
    const pace = Math.max(STEP.fastest, Math.min(STEP.slowest, STEP.all / rest.length));
    const next = () => {
      const step = rest.shift();
      if (!step) return this.pause();
      this.#page.put(step, step.move, { replace: true, milliseconds: GLIDE * pace });
      this.#timer = setTimeout(next, pace);
    };
    if (!rest.length) return this.pause();
    this.#timer = setTimeout(next, prefersReducedMotion() ? pace : pace / 3);
  }

  pause() {
    clearTimeout(this.#timer);
    this.#turn += 1;
    if (!this.playing) return;
    this.playing = false;
    this.#page.readout.show();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }
}

/** Return the positions of a path in the order of its moves: {position, distance, picture, move}. */
export function stepsInOrder({ path, pictures, moves, distance }, { reversible }) {
  const steps = path.map((position, at) => ({ position, picture: pictures[at], distance: distance - at, move: null }));
  if (!reversible) steps.reverse();
  steps.slice(1).forEach((step, at) => (step.move = moves?.[at] ?? null));
  return steps;
}
