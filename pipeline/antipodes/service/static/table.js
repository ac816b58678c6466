// The page of a table.

import { element } from "./elements.js";

/** Fill the element with the page of the table in the context. */
export function mount(root, context) {
  root.append(element("h1", { text: context.name }));
  return { update() {}, close() {} };
}
