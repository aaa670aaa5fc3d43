// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a tree of groups as a flame graph.

const ROW = 20;
const COLUMN = 2; // the width of the narrowest frames, in pixels

// The colours of Okabe and Ito, which people with colour blindness can tell apart.
const GROUP_COLOURS = [[86, 180, 233], [230, 159, 0], [0, 158, 115], [204, 121, 167], [240, 228, 66],
  [213, 94, 0], [0, 114, 178]];
const OTHER_GROUP = GROUP_COLOURS.length;

// The source file of each function, or 0: that of one of its lines.
function filesOf(model, grain) {
  model.filesOf = model.filesOf || [];
  if (model.filesOf[grain])
    return model.filesOf[grain];
  const files = model.filesOf[grain] = new Uint32Array(model.functions[grain].count);
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

// Returns the number of a name of a part, or adds it.
function partNumber({partNames, partNumbers}, name) {
  if (!partNumbers.has(name))
    partNumbers.set(name, partNames.push(name) - 1);
  return partNumbers.get(name);
}

const NO_PART = 2 ** 32 - 1; // of functions of the standard libraries, and of small stacks

// The largest part of each function.
function firstParts(model, grain) {
  model.firstParts = model.firstParts || [];
  model.partNames = model.partNames || [];
  model.partNumbers = model.partNumbers || new Map();
  if (!model.firstParts[grain]) {
    const {count, std} = model.functions[grain], files = filesOf(model, grain);
    const parts = model.firstParts[grain] = new Uint32Array(count);
    for (let fn = 0; fn < count; fn++)
      parts[fn] = std[fn] || fn === model.smallFunctions[grain] ? NO_PART : partNumber(model, partOf(model, grain, files, fn, 0));
  }
  return model.firstParts[grain];
}

// The parts with the largest areas in the flame graph of a tree: their names, and
// the place of each function among them. A part with most of the area is divided.
function partsOf({model, shape: {grain}, areas}) {
  const {count} = model.functions[grain], files = filesOf(model, grain);
  const level = new Uint8Array(count), part = firstParts(model, grain).slice();
  let sums, sorted;
  for (let round = 0; round < 4; round++) {
    sums = new Float64Array(model.partNames.length);
    for (let fn = 0; fn < count; fn++)
      if (part[fn] !== NO_PART)
        sums[part[fn]] += areas[fn];
    const all = sums.reduce((sum, area) => sum + area, 0);
    sorted = [...sums.keys()].filter(i => sums[i] > 0);
    const most = sorted.find(i => sums[i] > 0.6 * all);
    if (most === undefined || round === 3)
      break;
    for (let fn = 0; fn < count; fn++)
      if (part[fn] === most && areas[fn])
        part[fn] = partNumber(model, partOf(model, grain, files, fn, ++level[fn]));
  }
  const first = new Uint32Array(sums.length);
  for (let fn = count - 1; fn >= 0; fn--)
    if (part[fn] !== NO_PART && areas[fn])
      first[part[fn]] = fn;
  sorted.sort((a, b) => sums[b] - sums[a] || first[a] - first[b]);
  const places = new Uint8Array(model.partNames.length).fill(OTHER_GROUP);
  sorted.slice(0, OTHER_GROUP).forEach((number, place) => {
    places[number] = place;
  });
  return {
    names: sorted.slice(0, OTHER_GROUP).map(i => model.partNames[i]), hasOthers: sorted.length > OTHER_GROUP,
    of: part.map(i => i === NO_PART ? OTHER_GROUP : places[i])
  };
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
    this.round = 0; // of the layout: drawn frames have its number
    this.boxes = [];
    this.rows = 0;
    this.span = [0, 1]; // the part of the zoomed frame that is drawn
    this.focus = this.zoom = this.hover = null;
    this.flip = Boolean(flip);
    this.picture = new Picture({
      class: 'flame', tabindex: 0, role: 'application', 'aria-label': label +
          '. Arrow keys move, Enter zooms, Escape zooms out, S shows callers and callees, plus and minus magnify.',
      onmousemove: e => this.move(e), onmouseleave: () => this.leave(),
      onwheel: e => this.wheel(e), onclick: e => this.click(e), ondblclick: () => this.zoomTo(this.groups.root),
      onkeydown: e => this.key(e), onfocus: () => this.picture.redraw(),
      onblur: () => this.picture.redraw()
    }, (context, width, height) => this.draw(context, width, height), () => this.resize());
    this.space = h('div', {class: 'flame-space'}, this.picture.canvas);
    this.element = h('div', {
      class: 'flame-box', onscroll: () => this.picture.redraw()
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
      this.parts = groups.tree.parts;
    this.groups = groups;
    this.matches = matches;
    // Keeps the zoom if the other values have the same stack.
    let zoom = groups.root;
    for (const fn of path)
      zoom = groups.children(zoom).find(g => g.fn === fn) || zoom;
    this.zoom = zoom;
    this.span = [0, 1];
    this.focus = null;
    this.hover = null;
    this.placed = null;
    this.resize();
  }

  search(matches) {
    this.matches = matches;
    this.picture.redraw();
  }

  zoomTo(group) {
    this.zoom = group;
    this.span = [0, 1];
    this.placed = null;
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
    if (this.placed !== this.zoom || this.width !== width)
      this.placeAll(width);
    this.height = Math.max(this.rows * ROW + 4, printing ? 0 : this.element.clientHeight - 1);
    this.space.style.height = this.height + 'px';
    if (this.flip)
      this.element.scrollTop = this.height;
    this.picture.redraw();
  }

  placeAll(width) {
    this.placed = this.zoom;
    this.width = width;
    this.boxes = [];
    this.round++;
    const path = [];
    for (let g = this.zoom; g; g = g.parent)
      path.unshift(g);
    path.forEach((g, row) => this.add({g, x: 0, w: width, row, above: g !== this.zoom}));
    this.rows = path.length;
    const [from, to] = this.span, whole = width / (to - from);
    this.place(this.zoom, -from * whole, whole, path.length);
  }

  // Draws a part of the zoomed frame, so that frames which are narrower than a column
  // get room. place: what stays in its place, from 0 to 1
  magnify(factor, place) {
    const [from, to] = this.span, size = Math.min(1, Math.max(1e-9, (to - from) * factor));
    this.moveTo(from + (to - from - size) * place, size);
  }

  moveTo(from, size) {
    const begin = Math.min(1 - size, Math.max(0, from));
    this.span = [begin, begin + size];
    this.placed = null;
    tip.hide();
    this.layout();
  }

  // Ctrl and the wheel magnify; a wheel to the side moves.
  wheel(event) {
    const [from, to] = this.span, width = this.width || 1;
    if (event.ctrlKey)
      this.magnify(wheelFactor(event), event.offsetX / width);
    else if (event.deltaX && to - from < 1)
      this.moveTo(from + event.deltaX / width * (to - from), to - from);
    else
      return;
    event.preventDefault();
  }

  add(box) {
    this.boxes.push(box);
    box.g.round = this.round;
  }

  isDrawn(g) {
    return g.round === this.round;
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
        // A column of frames that are narrower shows the one in its middle.
        const column = Math.ceil(x / COLUMN - 0.5) * COLUMN, isNarrow = w < COLUMN;
        if (x >= this.width)
          break;
        if (x + w > 0 && (!isNarrow || x + w > column + COLUMN / 2)) {
          const from = isNarrow ? column : x, wide = isNarrow ? COLUMN : w, shown = Math.max(0, from);
          this.add({g, x: shown, w: Math.min(this.width, from + wide) - shown, row});
          this.rows = Math.max(this.rows, row + 1);
          open.push([g, from, wide, row + 1]);
        }
        x += w;
      }
    }
  }

  // Returns a function that gives the colour of a frame.
  colours() {
    const {tree} = this.groups, {model, shape} = tree, {std} = model.functions[shape.grain];
    if (tree.base)
      return g => changeColour(g.value, g.base);
    const dark = isDark(), all = dark ? '#3a3f47' : '#dfe3e8', library = dark ? '#43474e' : '#d5d9de';
    const parts = [0, 1].map(shade => Array.from({length: OTHER_GROUP + 1}, (_, i) => partColour(i, shade)));
    return ({fn}) => fn < 0 ? all : std[fn] ? library : parts[fn & 1][this.parts.of[fn]];
  }

  label(g) {
    const {tree} = this.groups, {grain} = tree.shape;
    return g.fn < 0 ? 'all' : g.fn === tree.model.smallFunctions[grain] ? this.smallLabel(g) :
        tree.model.name(grain, g.fn);
  }

  // "(1,234 small stacks)"
  smallLabel(g) {
    const {joined} = this.groups.tree;
    return `(${counted(g.items.reduce((sum, n) => sum + (joined.get(n) || 0), 0), 'small stack')})`;
  }

  wholeName(g) {
    const {tree} = this.groups;
    return g.fn < 0 || g.fn === tree.model.smallFunctions[tree.shape.grain] ? this.label(g) : tree.model.wholeName(tree.shape.grain, g.fn);
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
    const colour = this.colours();
    for (const box of this.boxes) {
      const y = this.y(box.row) - top;
      if (y <= height && y >= -ROW)
        this.drawBox(context, box, y, colour(box.g), dark);
    }
    context.globalAlpha = 1;
    for (const box of this.boxes) {
      const y = this.y(box.row) - top;
      if (box.w > 24 && y <= height && y >= -ROW)
        this.drawName(context, box, y, perCharacter, dark);
    }
    if (this.focus && document.activeElement === this.picture.canvas)
      this.outline(context, this.focus, top, css('--accent'), 2);
    if (this.hover)
      this.outline(context, this.hover, top, css('--text'), 1);
  }

  // Returns whether the search has found other frames.
  isDim(g) {
    return Boolean(this.matches) && !(g.fn >= 0 && this.matches[g.fn]);
  }

  drawBox(context, {g, x, w, above}, y, colour, dark) {
    const dim = this.isDim(g), found = this.matches && !dim;
    context.globalAlpha = above ? 0.55 : dim ? 0.35 : 1;
    context.fillStyle = found ? (dark ? '#b04fc4' : '#e79af2') : colour;
    context.fillRect(x, y, w > 3 ? w - 1 : w, ROW - 1);
  }

  drawName(context, {g, x, w}, y, perCharacter, dark) {
    context.globalAlpha = this.isDim(g) ? 0.6 : 1;
    context.fillStyle = dark ? '#f0f2f5' : '#16181d';
    this.drawTexts(context, g, x + 4, y + ROW / 2, w - 8, perCharacter);
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
    const drawn = p => this.groups.children(p).filter(c => this.isDrawn(c));
    if (key === (this.flip ? 'ArrowUp' : 'ArrowDown'))
      return (this.isDrawn(g) ? drawn(g) : [])[0] || g;
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
      if (!this.isDrawn(this.focus))
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
    } else if (event.key === '+' || event.key === '-') {
      const box = this.boxes.find(b => b.g === g);
      this.magnify(event.key === '+' ? 0.5 : 2, box ? (box.x + box.w / 2) / this.width : 0.5);
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
