// The service: one function for each address that the page asks, and its errors as one line.

import { signalled } from "./loading.js";

const ROOT = "api/v1";

/** What is wrong, as one line for a person. */
export class Problem extends Error {}

/** What the service answered instead of a value, and the status (0: no answer at all). */
export class ServiceError extends Problem {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The JSON at an address under /api/v1; `query` has texts, numbers and lists; those that are null are left out. */
export async function get(path, query = {}, signal = undefined) {
  return signalled(answer(asked(address(path, query), { signal })));
}

/** As `get`, with a body. */
export async function post(path, body, signal = undefined) {
  const headers = { "Content-Type": "application/json" };
  return signalled(answer(asked(address(path, {}), { method: "POST", headers, body: JSON.stringify(body), signal })));
}

/** The address of something under /api/v1, for a link or an image. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const pairs = given.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return `${ROOT}${path}${pairs.length ? `?${new URLSearchParams(pairs)}` : ""}`;
}

/** The path of a store under /api/v1. */
export function of(name, rest = "") {
  return `/stores/${encodeURIComponent(name)}${rest}`;
}

async function asked(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("the service does not answer: is antipodes serve still running?", 0);
  }
}

async function answer(asking) {
  const response = await asking;
  let body = null;
  try {
    body = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(`the service answered ${response.status}, which is no JSON`, response.status);
  }
  if (!response.ok) throw new ServiceError(body.error ?? `the service answered ${response.status}`, response.status);
  return body;
}

/** Runs one request at a time: a new one ends the one before it, which then never answers. */
export class Latest {
  #running = null;

  /** The value of `ask(signal)`, or undefined if another was asked meanwhile. */
  async ask(ask) {
    this.#running?.abort();
    const mine = (this.#running = new AbortController());
    try {
      const value = await ask(mine.signal);
      return mine.signal.aborted ? undefined : value;
    } catch (error) {
      if (mine.signal.aborted) return undefined;
      throw error;
    }
  }

  stop() {
    this.#running?.abort();
  }
}
