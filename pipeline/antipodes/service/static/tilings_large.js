// An enlarged tiling, which can be laid piece by piece and saved as a picture, with its symmetric images.

import { LatestRequest, storePath } from "./api.js";
import { button, element, formatCount } from "./elements.js";
import { copyButton, quoteForShell, save } from "./saving.js";
import { pngOf, svgText, tilingPicture, tilingText } from "./tilings_drawing.js";

const BEAT = 420;

export class Large {
  /** `close()` is called when the user closes the tiling, `turn(step)` for the next (1) or the previous (-1) tiling. */
  constructor(context, plan, { close, turn }) {
    Object.assign(this, { context, plan, asks: new LatestRequest(), number: null, image: 0, laid: Infinity });
    this.title = element("h2", { tabindex: "-1" });
    this.figure = element("figure", { class: "large-figure" });
    this.slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Pieces laid" });
    this.slider.addEventListener("input", () => this.#lay(Number(this.slider.value)));
    this.slider.addEventListener("change", () => this.#remember());
    this.steps = element("output", { class: "small muted" });
    this.player = button("Play", () => this.#play(), { class: "button" });
    this.images = element("div", { class: "large-images" });
    this.symmetric = element("section", { "aria-label": "Symmetric images" }, element("h3", { class: "small muted" }), this.images);
    this.element = element(
      "section",
      { class: "large", "aria-label": "One tiling" },
      element(
        "div",
        { class: "row large-head" },
        this.title,
        button("‹", () => turn(-1), { class: "quiet icon", "aria-label": "Previous tiling" }),
        button("›", () => turn(1), { class: "quiet icon", "aria-label": "Next tiling" }),
        button("×", close, { class: "quiet icon", "aria-label": "Close the tiling" }),
      ),
      this.figure,
      element("div", { class: "row large-steps" }, this.player, this.slider, this.steps),
      this.symmetric,
      element(
        "div",
        { class: "row large-tools", role: "group", "aria-label": "Copy and save" },
        copyButton("Copy text", () => tilingText(plan, this.all[this.image]), context, "Copy the tiling as letters"),
        copyButton("Copy command", () => this.#command(), context, "Copy the shell command that shows this tiling"),
        copyButton("Copy link", () => location.href, context, "Copy the address of this view"),
        button("SVG", () => this.#saveSvg(), { class: "quiet", "aria-label": "Save as SVG" }),
        button("PNG", () => this.#savePng(), { class: "quiet", "aria-label": "Save as PNG" }),
      ),
    );
  }

  /**
   * Show a tiling by its number and the number of its symmetric image, with `laid` of its pieces. If `image` is -1, show
   * the first image that satisfies the conditions `where`, as the gallery does.
   */
  async show({ number, image, laid, where }) {
    const { api, name, store } = this.context;
    const asked = JSON.stringify([number, store.version, where]);
    if (asked !== this.asked) {
      this.#pause();
      const images = await this.asks.ask((signal) => api.get(storePath(name, `/tilings/${number}/images`), { where }, signal));
      const tiling = images && (await this.#itself(number));
      if (!tiling) return;
      const sorted = withItselfFirst(images, tiling);
      Object.assign(this, { number, where, asked, all: sorted.map(({ pieces }) => pieces), first: firstMatch(sorted) });
    }
    this.image = image < 0 ? this.first : Math.min(image, this.all.length - 1);
    this.title.textContent = `Tiling ${formatCount(number)}`;
    this.order = this.plan.order(this.all[this.image]);
    this.slider.max = this.order.length;
    this.#lay(Math.min(laid, this.order.length));
    this.#showImages();
  }

  close() {
    this.#pause();
    this.asks.stop();
    this.element.remove();
  }

  /** Return the shell command that shows this tiling, as the copy that satisfies the conditions if it is shown. */
  #command() {
    const conditions = this.first > 0 && this.image === this.first ? this.where : [];
    return [`${this.context.store.command} --number ${this.number}`, ...conditions.map((one) => `--where ${quoteForShell(one)}`)].join(" ");
  }

  async #itself(number) {
    const { api, name } = this.context;
    const answer = await this.asks.ask((signal) => api.get(storePath(name, "/tilings"), { first: number - 1, limit: 1 }, signal));
    return answer?.tilings[0]?.pieces;
  }

  #lay(laid) {
    this.laid = laid;
    const all = this.order.length;
    const label = `Tiling ${formatCount(this.number)}, ${laid < all ? `${laid} of ${formatCount(all, "piece")} laid` : formatCount(all, "piece")}`;
    this.figure.replaceChildren(tilingPicture(this.plan, this.all[this.image], { laid, named: true, label }));
    this.slider.value = laid;
    this.slider.setAttribute("aria-valuetext", laid ? `${laid} of ${all}, last ${this.order[laid - 1]}` : `none of ${all}`);
    this.steps.textContent = `${laid} of ${all}`;
  }

  #remember() {
    const step = this.laid < this.order.length ? this.laid : null;
    this.context.navigate({ step }, { replace: true });
  }

  #play() {
    if (this.playing) return this.#pause();
    if (this.laid >= this.order.length) this.#lay(0);
    this.player.textContent = "Pause";
    this.playing = setInterval(() => {
      this.#lay(this.laid + 1);
      if (this.laid >= this.order.length) this.#pause();
    }, BEAT);
  }

  #pause() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = "Play";
    this.#remember();
  }

  #showImages() {
    this.symmetric.hidden = this.all.length < 2;
    this.symmetric.firstChild.textContent = `${this.all.length} symmetric images`;
    if (this.shownOf !== this.all) {
      this.shownOf = this.all;
      this.images.replaceChildren(...this.all.map((pieces, at) => this.#imageButton(pieces, at)));
    }
    [...this.images.children].forEach((one, at) => one.setAttribute("aria-pressed", String(at === this.image)));
  }

  #imageButton(pieces, at) {
    const choose = () => this.context.navigate({ image: at === this.first ? null : at }, { replace: true });
    const made = button("", choose, { class: "large-image", "aria-label": at ? `Symmetric image ${at + 1}` : "The tiling itself" });
    made.append(tilingPicture(this.plan, pieces));
    return made;
  }

  #saveSvg() {
    save(new Blob([svgText(this.figure.firstChild)], { type: "image/svg+xml" }), `${this.#file()}.svg`);
  }

  async #savePng() {
    try {
      save(await pngOf(this.figure.firstChild), `${this.#file()}.png`);
    } catch (error) {
      this.context.fail(error);
    }
  }

  #file() {
    return [this.context.name, this.number, this.image && `image-${this.image + 1}`].filter(Boolean).join("-");
  }
}

/** Return all images, with the tiling itself first. */
function withItselfFirst(images, tiling) {
  const text = (pieces) => JSON.stringify(Object.entries(pieces).sort());
  const isItself = ({ pieces }) => text(pieces) === text(tiling);
  return [...images.filter(isItself), ...images.filter((image) => !isItself(image))];
}

/** Return the place of the first image that satisfies the conditions; 0 if none does. */
function firstMatch(images) {
  return Math.max(0, images.findIndex(({ matches }) => matches));
}
