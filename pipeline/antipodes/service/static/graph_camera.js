// Maps places of a picture, from 0 to 1 in both directions, to points of the screen, and back.

const WIDEST = 1.75;
const MARGIN = { left: 58, right: 26, top: 30, bottom: 30 };
const CLOSEST = 400;

export class Camera {
  constructor() {
    [this.width, this.height] = [1, 1];
    this.fit();
  }

  /** Set the size of the screen in pixels; the place at its centre stays there. */
  resize(width, height) {
    const middle = this.unit([this.width / 2, this.height / 2]);
    [this.width, this.height] = [width, height];
    const [wide, high] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    [this.wide, this.high] = [Math.max(1, Math.min(wide, high * WIDEST)), Math.max(1, high)];
    this.left = MARGIN.left + (wide - this.wide) / 2;
    if (this.zoom === 1) this.fit();
    else this.centre(middle);
  }

  /** Show the whole picture. */
  fit() {
    [this.zoom, this.x, this.y] = [1, 0, 0];
  }

  /** Return the point of the screen, in pixels, that shows a place of the picture. */
  screen(x, y) {
    return [(this.left + x * this.wide) * this.zoom + this.x, (MARGIN.top + y * this.high) * this.zoom + this.y];
  }

  /** Return the place of the picture at a point of the screen. */
  unit([left, top]) {
    const [x, y] = [(left - this.x) / this.zoom, (top - this.y) / this.zoom];
    return [(x - (this.left ?? 0)) / (this.wide ?? 1), (y - MARGIN.top) / (this.high ?? 1)];
  }

  /** Return the linear map from places to pixels: {scale: [x, y], offset: [x, y]}. */
  transform() {
    return { scale: [this.wide * this.zoom, this.high * this.zoom], offset: this.screen(0, 0) };
  }

  /** Move the picture by some pixels, but not off the screen. */
  pan(right, down) {
    this.x += right;
    this.y += down;
    this.#keepOnScreen();
  }

  /** Enlarge by a factor around a point of the screen. */
  enlarge(factor, [left, top] = [this.width / 2, this.height / 2]) {
    const zoom = Math.min(CLOSEST, Math.max(0.7, this.zoom * factor));
    const by = zoom / this.zoom;
    [this.zoom, this.x, this.y] = [zoom, left - (left - this.x) * by, top - (top - this.y) * by];
    this.#keepOnScreen();
  }

  /** Move a place of the picture to the centre of the screen. */
  centre([x, y]) {
    const [left, top] = this.screen(x, y);
    this.pan(this.width / 2 - left, this.height / 2 - top);
  }

  /** Return whether a place is on the screen and not too close to its border. */
  shows([x, y]) {
    const [left, top] = this.screen(x, y);
    return left > 24 && top > 24 && left < this.width - 24 && top < this.height - 24;
  }

  #keepOnScreen() {
    const [left, top] = this.screen(0, 0);
    const [right, bottom] = this.screen(1, 1);
    this.x += shiftOnScreen(left, right, this.width);
    this.y += shiftOnScreen(top, bottom, this.height);
  }
}

/** Return how far the interval from `low` to `high` has to move so that a part of it is in the middle half of the screen. */
function shiftOnScreen(low, high, size) {
  if (high < size * 0.25) return size * 0.25 - high;
  return low > size * 0.75 ? size * 0.75 - low : 0;
}
