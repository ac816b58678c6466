// Requests of a view, whose last answer is cached.

import { storePath } from "./api.js";

/** Requests data of the store, once for each address, query and commit, and caches the last answer. */
export class CachedRequest {
  #context;
  #key = null;
  #answer = null;

  constructor(context) {
    this.#context = context;
  }

  /** Return the answer for the last commit; undefined if something else was requested meanwhile. */
  async ask(address, query) {
    const key = JSON.stringify([this.#context.store.version, address, query]);
    if (key !== this.#key) [this.#key, this.#answer] = [key, this.#context.api.get(storePath(this.#context.name, address), query)];
    try {
      const answer = await this.#answer;
      return key === this.#key ? answer : undefined;
    } catch (error) {
      if (key !== this.#key) return undefined;
      this.#key = null; // so that the next call requests it again
      throw error;
    }
  }

  /** Ignore the answer to a request under way, and forget the cached answer. */
  drop() {
    this.#key = null;
  }
}
