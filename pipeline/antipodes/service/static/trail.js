// The positions that were on the board, one after another: undo, redo, and going back to one of them.

const MOST_PICTURES = 200;

/** Entries {position, distance, index, picture, move}, of which some lack index or picture, and which of them is on the board. */
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

  /** A move was made, or another position put on the board: what was undone before is forgotten. */
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

  /** A position is on the board, by the browser's back button or a link: an entry beside this one, or a new one. */
  arrive(entry) {
    const near = [0, -1, 1].find((step) => this.entries[this.at + step]?.position === entry.position);
    if (near === undefined) this.push(entry);
    else {
      this.at += near;
      Object.assign(this.here, { distance: entry.distance, index: entry.index, picture: entry.picture });
    }
  }
}
