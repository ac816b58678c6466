// Plays the shortest path, one position after another.

import { of, Problem } from "./api.js";
import { still } from "./stage.js";

/** Milliseconds of a step; a long path is played faster, towards `all` milliseconds together. */
const STEP = { slowest: 620, fastest: 220, all: 25_000 };
/** The part of a step in which a piece glides. */
const GLIDE = 0.6;

/** The shortest path from the position on the board, asked when it is needed, and played. */
export class Player {
  #page;
  #timer = 0;
  #asked = null;
  playing = false;

  constructor(page) {
    this.#page = page;
  }

  /** The JSON of /path of the position on the board; asked once for each position and commit. */
  path() {
    const { context } = this.#page;
    const { position } = context.seen;
    const key = `${context.store.version} ${position}`;
    if (this.#asked?.key !== key) {
      const answer = context.api.get(of(context.name, "/path"), { position });
      this.#asked = { key, answer };
      answer.catch(() => (this.#asked = this.#asked?.key === key ? null : this.#asked));
    }
    return this.#asked.answer;
  }

  /** Play the path to the start; where moves cannot be undone, from the start to the position. */
  async play() {
    const { context } = this.#page;
    this.playing = true;
    this.#page.readout.show();
    try {
      const found = await this.path();
      if (!this.playing) return;
      if (!found.path) throw new Problem("no path leads from here to the start");
      this.#run(inOrder(found, context.store.reversible !== false));
    } catch (error) {
      this.pause();
      context.fail(error);
    }
  }

  #run(steps) {
    const [first, ...rest] = steps;
    const { context } = this.#page;
    if (first.position !== context.seen.position) this.#page.put(first, null);
    const pace = Math.max(STEP.fastest, Math.min(STEP.slowest, STEP.all / rest.length));
    const next = () => {
      const step = rest.shift();
      if (!step) return this.pause();
      this.#page.put(step, step.move, { replace: true, milliseconds: GLIDE * pace });
      this.#timer = setTimeout(next, pace);
    };
    if (!rest.length) return this.pause();
    this.#timer = setTimeout(next, still() ? pace : pace / 3);
  }

  pause() {
    clearTimeout(this.#timer);
    if (!this.playing) return;
    this.playing = false;
    this.#page.readout.show();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }
}

/** The positions of a path in the order of its moves: {position, distance, picture, move}. */
function inOrder({ path, pictures, moves, distance }, reversible) {
  const steps = path.map((position, at) => ({ position, picture: pictures[at], distance: distance - at, move: null }));
  if (!reversible) steps.reverse();
  steps.slice(1).forEach((step, at) => (step.move = moves?.[at] ?? null));
  return steps;
}
