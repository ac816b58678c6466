// The client of the service: functions that send requests, and errors with a one-line message.

import { withIndicator } from "./loading.js";

const ROOT = "api/v1";

/** An error with a one-line message for the user. */
export class Problem extends Error {}

/** An error answer of the service, with its HTTP status; the status is 0 if the service did not answer. */
export class ServiceError extends Problem {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Get the JSON at a path under /api/v1. `query` maps names to strings, numbers or lists; null values are omitted. */
export async function get(path, query = {}, signal = undefined) {
  return withIndicator(readAnswer(sendRequest(address(path, query), { signal })));
}

/** Post a body and return the JSON of the answer. */
export async function post(path, body, signal = undefined) {
  const headers = { "Content-Type": "application/json" };
  return withIndicator(readAnswer(sendRequest(address(path, {}), { method: "POST", headers, body: JSON.stringify(body), signal })));
}

/** Return the URL of a path under /api/v1, for a link or an image. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const pairs = given.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return `${ROOT}${path}${pairs.length ? `?${new URLSearchParams(pairs)}` : ""}`;
}

/** Return the path under /api/v1 of a store, or of something below it. */
export function storePath(name, rest = "") {
  return `/stores/${encodeURIComponent(name)}${rest}`;
}

async function sendRequest(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("the service does not answer; check that antipodes serve is still running", 0);
  }
}

async function readAnswer(asking) {
  const response = await asking;
  let body = null;
  try {
    body = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(`the service answered with status ${response.status}, but not in JSON`, response.status);
  }
  if (!response.ok) throw new ServiceError(body.error ?? `the service answered with status ${response.status}`, response.status);
  return body;
}

/** Runs one request at a time: a new request aborts the previous one. */
export class LatestRequest {
  #running = null;

  /** Return the result of `ask(signal)`, or undefined if a newer request or `stop` has aborted this one. */
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
