// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a tree of groups as a flame graph.

const ROW = 20;

// The colours of Okabe and Ito, which people with colour blindness can tell apart.
const GROUP_COLOURS = [[86, 180, 233], [230, 159, 0], [0, 158, 115], [204, 121, 167], [240, 228, 66],
  [213, 94, 0], [0, 114, 178]];
const OTHER_GROUP = GROUP_COLOURS.length;

// The source file of each function, or 0: that of one of its lines.
function filesOf(model, grain) {
  const files = new Uint32Array(model.functions[grain].count);
  const of = model.frames[grain], lines = model.frames[1];
  for (let i = 0; i < of.length; i++)
    files[of[i]] = files[of[i]] || model.functions[1].file[lines[i]];
  return files;
}

// The part of the program to which a function belongs, ever smaller: its library,
// its outer namespace or class, its source file, itself.
function partOf(model, grain, files, fn, level) {
  const functions = model.functions[grain], name = model.texts[functions.name[fn]];
  if (level === 0)
    return model.texts[functions.module[fn]] || partOf(model, grain, files, fn, 1);
  const plain = name.replace(/\(anonymous namespace\)::/g, ''), end = afterQualifier(plain);
  return (level === 1 && end && plain.slice(0, end - 2)) ||
      (level < 3 && baseName(model.texts[files[fn]])) || name;
}

// The parts with the largest areas in the flame graph of a tree: their names, and
// the place of each function among them. A part with most of the area is divided.
function partsOf({model, shape, weight}) {
  const {grain} = shape, {count, std} = model.functions[grain], files = filesOf(model, grain);
  const area = new Float64Array(count), names = new Array(count), level = new Uint8Array(count);
  for (let n = 1; n < shape.count; n++)
    area[shape.fn[n]] += weight[n];
  const all = area.reduce((sum, a, fn) => std[fn] ? sum : sum + a, 0);
  for (let fn = 0; fn < count; fn++)
    names[fn] = area[fn] && !std[fn] ? partOf(model, grain, files, fn, 0) : null;
  let sums;
  for (let round = 0; round < 4; round++) {
    sums = new Map();
    for (let fn = 0; fn < count; fn++)
      if (names[fn] !== null)
        sums.set(names[fn], (sums.get(names[fn]) || 0) + area[fn]);
    const [most] = [...sums].find(([, sum]) => sum > 0.6 * all) || [];
    if (most === undefined || round === 3)
      break;
    for (let fn = 0; fn < count; fn++)
      if (names[fn] === most)
        names[fn] = partOf(model, grain, files, fn, ++level[fn]);
  }
  const sorted = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const places = new Map(sorted.map((name, i) => [name, Math.min(i, OTHER_GROUP)]));
  const of = Uint8Array.from(names, name => name === null ? OTHER_GROUP : places.get(name));
  return {names: sorted.slice(0, OTHER_GROUP), hasOthers: sorted.length > OTHER_GROUP, of};
}

// The colour of a part. shade: 0 or 1, for neighbours of one part.
function partColour(place, shade) {
  if (place >= OTHER_GROUP)
    return isDark() ? ['#4b5160', '#545b6b'][shade] : ['#c9ced8', '#d3d7df'][shade];
  return isDark() ? mix(GROUP_COLOURS[place], [22, 24, 29], 0.52 + 0.06 * shade) :
      mix(GROUP_COLOURS[place], [255, 255, 255], 0.42 + 0.1 * shade);
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
    if (!this.groups || this.groups.tree !== groups.tree)
      this.parts = partsOf(groups.tree);
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
    return partColour(this.parts.of[g.fn], g.fn & 1);
  }

  label(g) {
    const {tree} = this.groups;
    return g.fn < 0 ? 'all' : tree.model.name(tree.shape.grain, g.fn);
  }

  wholeName(g) {
    const {tree} = this.groups;
    return g.fn < 0 ? 'all' : tree.model.wholeName(tree.shape.grain, g.fn);
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
      this.drawTexts(context, g, x + 4, y + ROW / 2, w - 8, perCharacter);
    }
    context.globalAlpha = 1;
  }

  // The name, and the value if there is room.
  drawTexts(context, g, x, y, width, perCharacter) {
    const text = shortenName(this.label(g), Math.floor(width / perCharacter));
    if (!text)
      return;
    context.fillText(text, x, y, width + 2);
    const left = width - context.measureText(text).width - 14;
    const value = this.valueText(g);
    if (left < 40 || context.measureText(value).width > left)
      return;
    context.globalAlpha *= 0.7;
    context.textAlign = 'right';
    context.fillText(value, x + width, y);
    context.textAlign = 'left';
  }

  valueText(g) {
    const {tree} = this.groups;
    const side = !g.base ? ', new' : !g.value ? ', gone' : '';
    return tree.base ? change(g.value - g.base, tree.unit) + side :
        quantity(g.value, tree.unit) + nounOf(tree, g.value) + (tree.weight[0] ? ', ' + share(g.weight, tree.weight[0]) : '');
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
    if (tree.base) {
      lines.push(`now ${quantity(g.value, unit)}, before ${quantity(g.base, unit)}, ` +
          `change ${change(g.value - g.base, unit)}`);
    } else {
      lines.push(this.valueText(g));
    }
    if (!this.groups.isUp && g.own && g.fn >= 0)
      lines.push(`${quantity(g.own, unit)}${nounOf(tree, g.own)} of it in the function itself`);
    if (this.wholeName(g) !== this.label(g))
      lines.push(this.wholeName(g));
    return lines;
  }

  move(event) {
    const box = this.at(event);
    const g = box ? box.g : null;
    if (g !== this.hover) {
      this.hover = g;
      this.picture.redraw();
      if (g && this.on.hover)
        this.on.hover(this.lines(g));
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
    if (!this.focus)
      return;
    this.on.describe(this.lines(this.focus).join(', '));
    if (this.on.hover)
      this.on.hover([]);
  }

  // Lets the keys move from the zoomed frame.
  takeFocus() {
    this.picture.canvas.focus({preventScroll: true});
    this.focus = this.focus || this.zoom;
    this.describe();
    this.picture.redraw();
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

  // The stack of the chosen frame, innermost first.
  stackText() {
    const lines = [];
    for (let g = this.focus || this.zoom; g && g.fn >= 0; g = g.parent)
      lines.push(this.wholeName(g));
    return (this.groups.isUp ? lines.reverse() : lines).join('\n') + '\n';
  }

  copy() {
    copyText(this.stackText());
    this.on.describe('The stack is copied');
  }

  key(event) {
    const g = this.focus || this.zoom;
    tip.hide();
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
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
    } else if (event.key === 'c') {
      this.copy();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
