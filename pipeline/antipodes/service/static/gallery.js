// Positions as small boards; a click puts one on the board.

import { button, element } from "./elements.js";

/** A list of small boards with captions; `form` is "grid" or "strip", which scrolls sideways. */
export function thumbs(context, positions, pictures, captions = [], form = "grid") {
  const items = positions.map((position, at) => element("li", {}, thumb(context, position, pictures[at], captions[at])));
  const list = element("ol", { class: `thumbs ${form}` }, ...items);
  if (form !== "strip") return list;
  return element("div", { class: "scroll sideways", tabindex: "0", role: "region", "aria-label": "Boards of the path" }, list);
}

function thumb(context, position, picture, caption) {
  const here = context.seen?.position === position;
  const label = `${caption ? `${caption}: ` : ""}${position}`;
  const made = button("", () => context.go(position), { class: "thumb", "aria-label": `Put on the board ${label}`, title: position });
  if (here) made.setAttribute("aria-current", "true");
  made.append(context.board(picture, ""));
  if (caption) made.append(element("span", { class: "caption", "aria-hidden": "true", text: caption }));
  return made;
}
