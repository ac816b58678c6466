// Files that the page makes for the reader.

import { element } from "./elements.js";

/** Offer bytes as a file of a name. */
export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
