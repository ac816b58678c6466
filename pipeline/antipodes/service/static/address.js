// The address of the page: the name of a store, and the state of its views.

/** Return the name of the store and the state that are encoded in an address. */
export function parseAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { name: path ? decodePart(path) : null, state: Object.fromEntries(new URLSearchParams(query)) };
}

/** Decode a part of the address; a part with an invalid encoding is returned unchanged. */
function decodePart(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** Return the address of a store in a state. */
export function formatAddress(name, state) {
  const query = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== null && value !== ""));
  return `#/${name === null ? "" : encodeURIComponent(name)}${query.size ? `?${query}` : ""}`;
}
