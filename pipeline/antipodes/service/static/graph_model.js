// The graph as typed arrays: the places of its nodes, the neighbours of each node, and the edges on shortest paths.

/** Maximum number of nodes in a line; a layer with more nodes is drawn in several lines. */
const PER_LINE = 420;
const THICKEST = 0.62;

export class GraphModel {
  /** The arguments are the JSON of /graph, whose nodes are sorted by depth and then from left to right. */
  constructor({ whole, directed, layers, nodes, edges }) {
    this.whole = whole;
    this.directed = directed;
    this.sizes = layers;
    this.index = nodes.index;
    this.count = nodes.index.length;
    this.depth = Uint16Array.from(nodes.depth);
    this.edges = Uint32Array.from(edges);
    this.first = this.count ? this.depth[0] : 0;
    this.last = this.count ? this.depth[this.count - 1] : 0;
    this.begins = beginsOf(this.depth, this.last);
    this.places = this.#placeNodes(nodes.x);
    this.room = this.#roomOfNodes();
    this.#connect();
  }

  /** Number of layers from the first to the last depth of the graph. */
  get span() {
    return this.last - this.first + 1;
  }

  /** Return the number of the node whose position has this index; -1 if it is not in the graph. */
  find(index) {
    this.numbers ??= new Map(this.index.map((one, node) => [one, node]));
    return this.numbers.get(index) ?? -1;
  }

  /** Return the range of nodes of a layer: [first, end]. */
  layer(depth) {
    return [this.begins[depth] ?? this.count, this.begins[depth + 1] ?? this.count];
  }

  /** Return the numbers of the nodes that share an edge with a node. */
  neighbours(node) {
    return this.others.subarray(this.from[node], this.from[node + 1]);
  }

  /** Return the vertical place of a layer, from 0 for the first to 1 for the last. */
  height(depth) {
    return this.span > 1 ? (depth - this.first) / (this.span - 1) : 0.5;
  }

  /** Vertical distance between adjacent layers. */
  get gap() {
    return 1 / Math.max(1, this.span - 1);
  }

  /** Return all edges on shortest paths from the start to a node, as pairs of nodes. */
  shortest(node) {
    const [pairs, seen] = [[], new Set([node])];
    for (const here of seen) {
      for (const near of this.neighbours(here)) {
        if (this.depth[near] + 1 !== this.depth[here] || !this.#hasMove(near, here)) continue;
        pairs.push(near, here);
        seen.add(near);
      }
    }
    return Uint32Array.from(pairs);
  }

  /** Return the one-way edges among some edges, which are pairs of nodes. */
  oneWay(pairs) {
    if (!this.directed) return new Uint32Array();
    const kept = [];
    for (let k = 0; k < pairs.length; k += 2) {
      if (!this.#hasMove(pairs[k + 1], pairs[k])) kept.push(pairs[k], pairs[k + 1]);
    }
    return Uint32Array.from(kept);
  }

  /** Return the node closest to a point of the screen, at most `reach` pixels away; -1 if there is none. */
  nearest(camera, [left, top], reach) {
    let [best, least] = [-1, reach * reach];
    for (const depth of this.#layersAt(camera, top, reach)) {
      const [begin, end] = this.layer(depth);
      const from = camera.unit([left - reach, 0])[0];
      for (let node = this.#firstNodeAfter(begin, end, from); node < end; node += 1) {
        const [x, y] = camera.screen(this.places[2 * node], this.places[2 * node + 1]);
        if (x > left + reach) break;
        const far = (x - left) ** 2 + (y - top) ** 2;
        if (far <= least) [best, least] = [node, far];
      }
    }
    return best;
  }

  *#layersAt(camera, top, reach) {
    const thick = THICKEST * this.gap;
    const [above, below] = [camera.unit([0, top - reach])[1] - thick, camera.unit([0, top + reach])[1] + thick];
    for (let depth = this.first; depth <= this.last; depth += 1) {
      const height = this.height(depth);
      if (height >= above && height <= below) yield depth;
    }
  }

  /** Return the first node of a layer that is not left of a place. */
  #firstNodeAfter(begin, end, place) {
    let [low, high] = [begin, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.places[2 * middle] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placeNodes(x) {
    const places = new Float32Array(2 * this.count);
    for (let depth = this.first; depth <= this.last; depth += 1) {
      const [begin, end] = this.layer(depth);
      const lines = Math.ceil((end - begin) / PER_LINE);
      const step = (Math.min(THICKEST, 0.09 * (lines - 1)) / Math.max(1, lines - 1)) * this.gap;
      for (let node = begin; node < end; node += 1) {
        places[2 * node] = x[node];
        places[2 * node + 1] = this.height(depth) + step * (((node - begin) % lines) - (lines - 1) / 2);
      }
    }
    return places;
  }

  /** Return the average horizontal space per node in its layer, for each node. */
  #roomOfNodes() {
    const room = new Float32Array(this.count);
    for (let depth = this.first; depth <= this.last; depth += 1) {
      const [begin, end] = this.layer(depth);
      const lines = Math.ceil((end - begin) / PER_LINE);
      const wide = end > begin ? this.places[2 * end - 2] - this.places[2 * begin] : 0;
      room.fill(end - begin > 1 ? (wide * lines) / (end - begin - 1) : 1, begin, end);
    }
    return room;
  }

  #connect() {
    const { edges, count } = this;
    this.from = new Uint32Array(count + 1);
    for (const end of edges) this.from[end + 1] += 1;
    for (let node = 0; node < count; node += 1) this.from[node + 1] += this.from[node];
    const next = this.from.slice();
    this.others = new Uint32Array(edges.length);
    for (let k = 0; k < edges.length; k += 2) {
      this.others[next[edges[k]]++] = edges[k + 1];
      this.others[next[edges[k + 1]]++] = edges[k];
    }
  }

  /** Return whether a move leads from one node to its neighbour; an edge of a directed graph may have the other direction. */
  #hasMove(from, to) {
    if (!this.directed) return true;
    this.codes ??= new Set(pairsOf(this.edges, this.count));
    return this.codes.has(from * this.count + to);
  }
}

function* pairsOf(edges, count) {
  for (let k = 0; k < edges.length; k += 2) yield edges[k] * count + edges[k + 1];
}

function beginsOf(depth, last) {
  const begins = new Uint32Array(last + 2);
  for (const one of depth) begins[one + 1] += 1;
  for (let one = 0; one <= last; one += 1) begins[one + 1] += begins[one];
  return begins;
}
