// Positions as small boards; a click puts the position on the main board.

import { button, element } from "./elements.js";

/** Return a list of small boards with captions; `form` is "grid", or "strip" for a row that scrolls sideways. */
export function thumbs(context, positions, pictures, captions = [], form = "grid") {
  const items = positions.map((position, at) => element("li", {}, thumb(context, position, pictures[at], captions[at])));
  const list = element("ol", { class: `thumbs ${form}` }, ...items);
  if (form !== "strip") return list;
  return element("div", { class: "scroll sideways", tabindex: "0", role: "region", "aria-label": "Boards of the path" }, list);
}

/** Mark the small board that shows the position on the main board, and unmark all others. */
export function markHere(root, context) {
  for (const one of root.querySelectorAll(".thumb")) mark(one, context);
}

function mark(made, { here }) {
  if (made.title === here?.position) made.setAttribute("aria-current", "true");
  else made.removeAttribute("aria-current");
}

function thumb(context, position, picture, caption) {
  const label = `${caption ? `${caption}: ` : ""}${position}`;
  const made = button("", () => context.go(position), { class: "thumb", "aria-label": `Put on the board ${label}`, title: position });
  mark(made, context);
  made.append(context.board(picture, ""));
  if (caption) made.append(element("span", { class: "caption", "aria-hidden": "true", text: caption }));
  return made;
}
