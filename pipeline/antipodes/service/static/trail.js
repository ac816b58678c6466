// The positions that were on the board, in order, for undo, redo, and going back to one of them.

const MOST_PICTURES = 200;

/** Entries {position, distance, index, picture, move}; `at` is the number of the entry on the board. Index or picture may be missing. */
export class Trail {
  entries = [];
  at = -1;

  get here() {
    return this.entries[this.at] ?? null;
  }

  get before() {
    return this.entries[this.at - 1] ?? null;
  }

  get after() {
    return this.entries[this.at + 1] ?? null;
  }

  /** Add the entry of a move or a new position after the current entry; entries that were undone are dropped. */
  push(entry) {
    this.entries.splice(this.at + 1, Infinity, entry);
    this.at += 1;
    delete this.entries[this.at - MOST_PICTURES]?.picture;
  }

  /** Go to an entry by its number. */
  goTo(at) {
    this.at = at;
    return this.here;
  }

  /** Handle a position that came from a link or the browser's back button: go to an adjacent entry with it, or add one. */
  arrive(entry) {
    const near = [0, -1, 1].find((step) => this.entries[this.at + step]?.position === entry.position);
    if (near === undefined) this.push(entry);
    else {
      this.at += near;
      Object.assign(this.here, { distance: entry.distance, index: entry.index, picture: entry.picture });
    }
  }
}
