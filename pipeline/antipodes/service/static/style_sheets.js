// Loads the style sheet of a view when the view is first shown.

import { element } from "./elements.js";

const used = new Map();

/** Load a style sheet from the folder of the modules; the promise resolves even if it cannot be loaded. */
export function useStyles(name) {
  if (!used.has(name)) used.set(name, loadStyles(name));
  return used.get(name);
}

function loadStyles(name) {
  return new Promise((resolve) => {
    const { href } = new URL(name, import.meta.url);
    document.head.append(element("link", { rel: "stylesheet", href, on: { load: resolve, error: resolve } }));
  });
}
