// The buttons below the board: edit the position, copy it, and save its picture.

import { Problem } from "./api.js";
import { drawPicture } from "./board.js";
import { Editor } from "./editor.js";
import { button, element } from "./elements.js";
import { copyButton, quoteForShell, save } from "./saving.js";

const PIXELS = 1200;

export class Tools {
  #page;
  #context;

  constructor(page) {
    this.#page = page;
    this.#context = page.context;
    this.editor = new Editor(page);
    const edit = button("Edit", () => this.editor.toggle(edit), { class: "quiet", "aria-expanded": "false", "aria-controls": "editor", title: "Edit the position", hidden: !page.context.store.editable });
    const copy = (name, text, title) => copyButton(name, text, this.#context, title);
    const row = element("div", { class: "row tools", role: "group", "aria-label": "Copy and save" }, edit,
      copy("Copy position", () => this.#position, "Copy the position as text"),
      copy("Copy command", () => this.#command(), "Copy the shell command for this view"),
      copy("Copy link", () => location.href, "Copy the address of this view"),
      button("SVG", () => this.#saveSvg(), { class: "quiet", "aria-label": "Save as SVG" }),
      button("PNG", () => this.#savePng(), { class: "quiet", "aria-label": "Save as PNG" }));
    this.element = element("div", {}, row, this.editor.element);
  }

  get #position() {
    return this.#page.trail.here?.position ?? "";
  }

  /** Return the shell command that prints the data of the current view. */
  #command() {
    const { store, state } = this.#context;
    const address = store.command.replace(/^antipodes \w+ /, "");
    if (state.view === "distribution") return `antipodes layers ${address}`;
    if (state.view === "antipodes") return `antipodes farthest ${address}`;
    if (state.view === "pattern" && state.pattern) return `antipodes query ${address} --pattern ${quoteForShell(state.pattern)}`;
    return `antipodes query ${address} ${quoteForShell(this.#position)} --path`;
  }

  /** Return the picture as the text of an SVG file, in its own colours on white. */
  #svg() {
    const { picture } = this.#page.stage;
    const image = drawPicture(picture, this.#position, { plain: true });
    image.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    image.setAttribute("width", picture.width);
    image.setAttribute("height", picture.height);
    const text = new XMLSerializer().serializeToString(image);
    return { blob: new Blob([text], { type: "image/svg+xml" }), picture };
  }

  #saveSvg() {
    save(this.#svg().blob, `${this.#name()}.svg`);
  }

  async #savePng() {
    const { blob, picture } = this.#svg();
    const address = URL.createObjectURL(blob);
    try {
      const image = new Image();
      image.src = address;
      await image.decode();
      const scale = PIXELS / Math.max(picture.width, picture.height);
      const canvas = element("canvas", { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) });
      const pen = canvas.getContext("2d");
      pen.fillStyle = "#ffffff";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      save(await new Promise((done) => canvas.toBlob(done, "image/png")), `${this.#name()}.png`);
    } catch (error) {
      this.#context.fail(new Problem(`the picture cannot be saved: ${error.message}`));
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  #name() {
    return `${this.#context.name} ${this.#position}`.replace(/[^\w.-]+/g, "-").slice(0, 80);
  }
}
