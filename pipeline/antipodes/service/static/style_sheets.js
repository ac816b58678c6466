// Style sheets of single views, loaded with the first of each.

import { element } from "./elements.js";

const used = new Map();

/** Use a style sheet that stands beside the modules; resolves when it is there, or cannot be had. */
export function useStyles(name) {
  if (!used.has(name)) used.set(name, loaded(name));
  return used.get(name);
}

function loaded(name) {
  return new Promise((resolve) => {
    const { href } = new URL(name, import.meta.url);
    document.head.append(element("link", { rel: "stylesheet", href, on: { load: resolve, error: resolve } }));
  });
}
