// Saves files and copies texts.

import { Problem } from "./api.js";
import { button, element } from "./elements.js";

const COPIED = 1500;

/** Offer a blob as a download with a file name. */
export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Return a button that copies the result of `text()`. */
export function copyButton(name, text, context, title) {
  return button(name, (event) => copy(text(), event.currentTarget, context), { class: "quiet", title });
}

/** Quote a text so that a shell reads it as one word. */
export function quoteForShell(text) {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

async function copy(text, from, context) {
  try {
    await navigator.clipboard.writeText(text);
    context.say("Copied");
    from.classList.add("copied");
    setTimeout(() => from.classList.remove("copied"), COPIED);
  } catch {
    context.fail(new Problem(`the browser does not allow copying; here it is: ${text}`));
  }
}
