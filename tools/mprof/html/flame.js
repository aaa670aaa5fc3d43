// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a tree of groups as a flame graph.

const ROW = 20;

// A colour for a function. Functions of one scope or file have the same hue.
function hueOf(model, grain, fn) {
  const functions = model.functions[grain];
  const name = model.texts[functions.name[fn]].replace(/\(anonymous namespace\)::/g, '');
  const scope = name.replace(/[<(].*/s, '').match(/^(.*?)(::|$)/)[1];
  let hash = 7;
  const text = name.includes('::') ? scope : name;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  // Warm colours only: blue and red are for comparisons, grey for libraries.
  return 25 + hash % 125;
}

function mix(a, b, part) {
  return `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * part)).join(',')})`;
}

// Red for growth and blue for decrease; paler for smaller parts of the value.
function changeColour(now, then) {
  const size = Math.max(Math.abs(now), Math.abs(then));
  const part = size ? (now - then) / size : 0;
  const none = isDark() ? [62, 66, 74] : [226, 228, 232];
  const end = part > 0 ? (isDark() ? [190, 62, 54] : [240, 128, 116]) :
      (isDark() ? [48, 104, 190] : [120, 172, 240]);
  return mix(none, end, Math.sqrt(Math.abs(part)));
}

class Flame {
  // on: {choose(fn), describe(text)}
  // flip: the root is at the bottom
  constructor(label, on, flip) {
    this.on = on;
    this.height = 0;
    this.drawn = new Set();
    this.boxes = [];
    this.focus = this.zoom = this.hover = null;
    this.flip = Boolean(flip);
    this.picture = new Picture({
      class: 'flame', tabindex: 0, role: 'application', 'aria-label': label +
          '. Arrow keys move, Enter zooms, Escape zooms out, S shows callers and callees.',
      onmousemove: e => this.move(e), onmouseleave: () => this.leave(),
      onclick: e => this.click(e), ondblclick: () => this.zoomTo(this.groups.root),
      onkeydown: e => this.key(e), onfocus: () => this.picture.redraw(),
      onblur: () => this.picture.redraw()
    }, (context, width, height) => this.draw(context, width, height), () => this.resize());
    this.space = h('div', {class: 'flame-space'}, this.picture.canvas);
    this.element = h('div', {
      class: 'flame-box', onscroll: () => this.picture.drawNow()
    }, this.space);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  // matches: flags of functions that a search has found, or null
  show(groups, matches) {
    const path = [];
    if (this.groups && this.groups.isUp === groups.isUp)
      for (let g = this.zoom; g && g.parent; g = g.parent)
        path.unshift(this.groups.tree.shape.grain === groups.tree.shape.grain ? g.fn : -2);
    this.groups = groups;
    this.matches = matches;
    // Keeps the zoom if the other values have the same stack.
    let zoom = groups.root;
    for (const fn of path)
      zoom = groups.children(zoom).find(g => g.fn === fn) || zoom;
    this.zoom = zoom;
    this.focus = null;
    this.hover = null;
    this.layout();
  }

  search(matches) {
    this.matches = matches;
    this.picture.redraw();
  }

  zoomTo(group) {
    this.zoom = group;
    this.focus = group;
    this.element.scrollTop = 0;
    tip.hide();
    this.layout();
    this.describe();
    if (this.on.moved)
      this.on.moved();
  }

  // The functions from the root to the zoomed frame.
  zoomPath() {
    const path = [];
    for (let g = this.zoom; g && g.parent; g = g.parent)
      path.unshift(g.fn);
    return path;
  }

  zoomToPath(path) {
    let group = this.groups.root;
    for (const fn of path)
      group = this.groups.children(group).find(g => g.fn === fn) || group;
    if (group !== this.zoom)
      this.zoomTo(group);
  }

  resize() {
    this.layout();
    this.picture.canvas.style.height = (printing ? Math.min(this.height, MAX_CANVAS) :
        this.element.clientHeight) + 'px';
  }

  // Places the boxes: the callers of the zoomed frame in full width above it.
  layout() {
    const width = this.picture.canvas.clientWidth;
    if (!this.groups || !width)
      return;
    this.boxes = [];
    const path = [];
    for (let g = this.zoom; g; g = g.parent)
      path.unshift(g);
    path.forEach((g, row) => this.boxes.push({g, x: 0, w: width, row, above: g !== this.zoom}));
    this.rows = path.length;
    this.place(this.zoom, 0, width, path.length);
    this.drawn = new Set(this.boxes.map(b => b.g));
    this.height = Math.max(this.rows * ROW + 4, printing ? 0 : this.element.clientHeight - 1);
    this.space.style.height = this.height + 'px';
    if (this.flip)
      this.element.scrollTop = this.height;
    this.picture.redraw();
  }

  // The top of a row in the scrolled area.
  y(row) {
    return this.flip ? this.height - (row + 1) * ROW : row * ROW;
  }

  place(start, x0, w0, row0) {
    const open = [[start, x0, w0, row0]];
    while (open.length) {
      const [parent, left, width, row] = open.pop();
      const scale = width / (parent.weight || 1);
      let x = left;
      for (const g of this.groups.children(parent)) {
        const w = g.weight * scale;
        if (w < 0.4)
          break; // the others are smaller
        this.boxes.push({g, x, w, row});
        this.rows = Math.max(this.rows, row + 1);
        open.push([g, x, w, row + 1]);
        x += w;
      }
    }
  }

  colour(g) {
    const {tree} = this.groups, {model, shape} = tree;
    const dark = isDark();
    if (tree.base)
      return changeColour(g.value, g.base);
    if (g.fn < 0)
      return dark ? '#3a3f47' : '#dfe3e8';
    if (model.functions[shape.grain].std[g.fn])
      return dark ? '#43474e' : '#d5d9de';
    const hue = hueOf(model, shape.grain, g.fn);
    return dark ? `oklch(0.44 0.075 ${hue})` : `oklch(0.87 0.085 ${hue})`;
  }

  label(g) {
    const {tree} = this.groups;
    return g.fn < 0 ? 'all' : tree.model.name(tree.shape.grain, g.fn);
  }

  draw(context, width, height) {
    if (!this.groups)
      return;
    const top = printing ? 0 : this.element.scrollTop;
    const dark = isDark();
    const font = css('--font');
    context.font = `12px ${font}`;
    context.textBaseline = 'middle';
    const perCharacter = context.measureText('abcdefgh_:').width / 10;
    for (const box of this.boxes) {
      const y = this.y(box.row) - top;
      if (y > height || y < -ROW)
        continue;
      this.drawBox(context, box, y, perCharacter, dark);
    }
    if (this.focus && document.activeElement === this.picture.canvas)
      this.outline(context, this.focus, top, css('--accent'), 2);
    if (this.hover)
      this.outline(context, this.hover, top, css('--text'), 1);
  }

  drawBox(context, {g, x, w, row, above}, y, perCharacter, dark) {
    const found = this.matches && g.fn >= 0 && this.matches[g.fn];
    const dim = this.matches && !found;
    const gap = w > 3 ? 1 : 0;
    context.globalAlpha = above ? 0.55 : dim ? 0.35 : 1;
    context.fillStyle = found ? (dark ? '#b04fc4' : '#e79af2') : this.colour(g);
    context.fillRect(x, y, Math.max(w - gap, 0.4), ROW - 1);
    if (w > 24) {
      context.globalAlpha = dim ? 0.6 : 1;
      context.fillStyle = dark ? '#f0f2f5' : '#16181d';
      const text = fitText(context, this.label(g), w - 8, perCharacter);
      if (text)
        context.fillText(text, x + 4, y + ROW / 2, w - 6);
    }
    context.globalAlpha = 1;
  }

  outline(context, g, top, colour, width) {
    const box = this.boxes.find(b => b.g === g);
    if (!box)
      return;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(box.x + width / 2, this.y(box.row) - top + width / 2,
                       Math.max(box.w - width - 1, 1), ROW - 1 - width);
  }

  at(event) {
    const y = event.offsetY + this.element.scrollTop;
    const row = Math.floor((this.flip ? this.height - y : y) / ROW);
    return this.boxes.find(b => b.row === row && event.offsetX >= b.x &&
        event.offsetX < b.x + b.w);
  }

  lines(g) {
    const {tree} = this.groups, {unit} = tree;
    const lines = [this.label(g)];
    const part = tree.weight[0] ? ', ' + share(g.weight, tree.weight[0]) : '';
    if (tree.base) {
      lines.push(`now ${quantity(g.value, unit)}, before ${quantity(g.base, unit)}, ` +
          `change ${change(g.value - g.base, unit)}`);
    } else {
      lines.push(quantity(g.value, unit) + part);
    }
    if (!this.groups.isUp && g.own && g.fn >= 0)
      lines.push(`${quantity(g.own, unit)} of it in the function itself`);
    return lines;
  }

  move(event) {
    const box = this.at(event);
    const g = box ? box.g : null;
    if (g !== this.hover) {
      this.hover = g;
      this.picture.redraw();
    }
    if (g)
      tip.show(event.clientX, event.clientY, this.lines(g));
    else
      tip.hide();
  }

  leave() {
    this.hover = null;
    tip.hide();
    this.picture.redraw();
  }

  click(event) {
    const box = this.at(event);
    if (!box)
      return;
    if (event.altKey || event.ctrlKey || event.metaKey) {
      if (box.g.fn >= 0)
        this.on.choose(box.g.fn);
    } else if (event.detail < 2) {
      tip.hide();
      this.zoomTo(box.g);
    }
  }

  describe() {
    if (this.focus)
      this.on.describe(this.lines(this.focus).join(', '));
  }

  // Moves among the drawn frames.
  step(key) {
    const g = this.focus || this.zoom;
    const drawn = p => this.groups.children(p).filter(c => this.drawn.has(c));
    if (key === (this.flip ? 'ArrowUp' : 'ArrowDown'))
      return (this.drawn.has(g) ? drawn(g) : [])[0] || g;
    if (key === 'ArrowDown' || key === 'ArrowUp')
      return g.parent || g;
    const row = g.parent ? drawn(g.parent) : [g];
    const next = row.indexOf(g) + (key === 'ArrowRight' ? 1 : -1);
    return row[next] || g;
  }

  key(event) {
    const g = this.focus || this.zoom;
    if (event.key.startsWith('Arrow')) {
      this.focus = this.step(event.key);
      if (!this.drawn.has(this.focus))
        this.focus = g;
      const y = this.y(this.focus.depth);
      if (y < this.element.scrollTop || y > this.element.scrollTop + this.element.clientHeight - ROW)
        this.element.scrollTop = y - this.element.clientHeight / 2;
      this.describe();
      this.picture.redraw();
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.zoomTo(g);
    } else if (event.key === 'Escape' || event.key === 'Backspace') {
      this.zoomTo(event.key === 'Escape' ? this.groups.root : this.zoom.parent || this.zoom);
    } else if (event.key === 's' && g.fn >= 0) {
      this.on.choose(g.fn);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
