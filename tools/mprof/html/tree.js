// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call trees. A shape is a tree of functions, lines or files, without the frames
// of the standard libraries unless they are wanted; it is the same for all
// profiles and values. A tree adds the values of one selection to a shape.

class Shape {
  constructor(model, grain, std) {
    this.model = model;
    this.grain = grain;
    this.std = std;
    this.allocate(model.nodeCount + 1024);
    this.count = 1;
    // The shown node of each stack node, and the library function beneath the
    // shown function: its number + 1, or 0.
    this.shown = new Uint32Array(model.nodeCount);
    this.via = new Uint32Array(model.nodeCount);
    this.onlyStd = new Map();
    this.build();
    for (const profile of model.profiles)
      for (let i = 0; i < profile.stackCount; i++)
        this.leaf(profile.nodes[i]);
    this.finish();
  }

  // Makes room for nodes, and a hash table of pairs of a parent and a function.
  allocate(room) {
    const {parent, fn, count} = this;
    this.parent = new Uint32Array(room);
    this.fn = new Int32Array(room).fill(-1);
    let slots = 1024;
    while (slots < room * 1.5)
      slots *= 2;
    this.slots = new Uint32Array(slots);
    if (!parent)
      return;
    this.count = 1;
    for (let n = 1; n < count; n++)
      this.child(parent[n], fn[n]);
  }

  child(parent, fn) {
    const {slots} = this, mask = slots.length - 1;
    let slot = Math.imul(parent, 0x9e3779b1) + Math.imul(fn + 1, 0x85ebca6b);
    slot = Math.imul(slot ^ slot >>> 16, 0x7feb352d);
    slot = (slot ^ slot >>> 15) & mask;
    for (let n = slots[slot]; n; n = slots[slot]) {
      if (this.parent[n] === parent && this.fn[n] === fn)
        return n;
      slot = slot + 1 & mask;
    }
    if (this.count === this.parent.length) {
      this.allocate(this.count * 2);
      return this.child(parent, fn);
    }
    slots[slot] = this.count;
    this.parent[this.count] = parent;
    this.fn[this.count] = fn;
    return this.count++;
  }

  build() {
    const {model, shown, via} = this;
    const of = model.frames[this.grain], {std} = model.functions[this.grain];
    for (let n = 1; n < model.nodeCount; n++) {
      const fn = of[model.frame[n]], parent = model.parent[n];
      if (this.std || !std[fn]) {
        shown[n] = this.child(shown[parent], fn);
        continue;
      }
      shown[n] = shown[parent];
      const isCalledByUser = parent && !std[of[model.frame[parent]]];
      via[n] = isCalledByUser ? fn + 1 : via[parent];
    }
  }

  // The tree node of a stack. A stack of library functions alone is shown whole.
  leaf(node) {
    if (this.shown[node] || !node)
      return this.shown[node];
    let leaf = this.onlyStd.get(node);
    if (leaf === undefined) {
      const path = [], {model} = this;
      for (let n = node; n; n = model.parent[n])
        path.push(model.frames[this.grain][model.frame[n]]);
      leaf = path.reduceRight((parent, fn) => this.child(parent, fn), 0);
      this.onlyStd.set(node, leaf);
    }
    return leaf;
  }

  finish() {
    const n = this.count;
    this.parent = this.parent.slice(0, n);
    this.fn = this.fn.slice(0, n);
    this.slots = null;
    this.firstChild = new Uint32Array(n);
    this.nextSibling = new Uint32Array(n);
    for (let i = n - 1; i > 0; i--) {
      this.nextSibling[i] = this.firstChild[this.parent[i]];
      this.firstChild[this.parent[i]] = i;
    }
    this.findOuter();
  }

  // Sets outer[n] if no caller of n is the same function.
  findOuter() {
    const {parent, fn, firstChild, nextSibling} = this;
    this.outer = new Uint8Array(this.count);
    const open = new Uint32Array(this.model.functions[this.grain].count);
    for (let n = firstChild[0]; n;) {
      this.outer[n] = open[fn[n]]++ ? 0 : 1;
      if (firstChild[n]) {
        n = firstChild[n];
        continue;
      }
      open[fn[n]]--;
      while (n && !nextSibling[n]) {
        n = parent[n];
        if (n)
          open[fn[n]]--;
      }
      n = n && nextSibling[n];
    }
  }
}

function shapeOf(model, grain, std) {
  const key = grain + (std ? 's' : '');
  model.shapes = model.shapes || new Map();
  if (!model.shapes.has(key))
    model.shapes.set(key, new Shape(model, grain, std));
  return model.shapes.get(key);
}

// The values of a selection. For a comparison, the members `base...` are the
// values of the old profile. A weight is the width of a frame: the absolute
// value, or the larger one of both profiles.
class Tree {
  constructor(model, selection) {
    this.model = model;
    this.shape = shapeOf(model, selection.grain, selection.std);
    this.profile = selection.profile;
    this.type = selection.type;
    this.unit = this.profile.types[this.type].unit;
    const n = this.shape.count;
    this.own = new Float64Array(n);
    this.ownWeight = new Float64Array(n);
    this.ownVariance = new Float64Array(n);
    this.base = selection.base || null;
    this.active = selectStacks(model, selection, this.profile);
    this.sum = this.add(this.profile, this.type, this.active, this.own);
    if (this.base) {
      const type = this.base.typeIndex(this.profile.types[this.type].name);
      this.ownBase = new Float64Array(n);
      this.baseSum = this.add(this.base, type,
                              selectStacks(model, selection, this.base), this.ownBase);
      for (let i = 0; i < n; i++)
        this.ownWeight[i] = Math.max(Math.abs(this.own[i]), Math.abs(this.ownBase[i]));
      this.totalBase = this.upward(this.ownBase);
    }
    this.total = this.upward(this.own);
    this.weight = this.upward(this.ownWeight);
  }

  // Returns the sum of the absolute values, as in view/view.c.
  add(profile, type, active, own) {
    const {model, shape, ownWeight, ownVariance} = this;
    const values = profile.values[type];
    let sum = 0;
    if (profile === this.profile)
      this.variance = 0;
    for (let i = 0; i < profile.stackCount; i++) {
      const value = values[i];
      if (!value || (active && !active[i]))
        continue;
      const leaf = shape.leaf(profile.nodes[i]);
      own[leaf] += value;
      sum += Math.abs(value);
      ownWeight[leaf] += Math.abs(value);
      const v = variance(model, profile, type, profile.labels[i], value);
      ownVariance[leaf] += v;
      if (profile === this.profile)
        this.variance += v;
    }
    return sum;
  }

  upward(own) {
    const total = Float64Array.from(own), {parent} = this.shape;
    for (let n = total.length - 1; n > 0; n--)
      total[parent[n]] += total[n];
    return total;
  }
}

// Returns a flag for each stack, or null if all stacks are selected.
function selectStacks(model, {labels, only, grain}, profile) {
  if (!labels.length && !only)
    return null;
  const matching = model.labelSets.map(
      set => labels.every(l => set.some(([key, value]) => key === l.key && value === l.value)));
  const active = new Uint8Array(profile.stackCount);
  const has = only && nodesWith(model, grain, only);
  for (let i = 0; i < active.length; i++)
    active[i] = matching[profile.labels[i]] && (!has || has[profile.nodes[i]]) ? 1 : 0;
  return active;
}

// Returns a flag for each node: whether it or a caller matches the expression.
function nodesWith(model, grain, pattern) {
  const matches = matchingFunctions(model, 0, pattern);
  const lines = model.functions[1];
  const files = new Map();
  const inFile = file => {
    if (!files.has(file))
      files.set(file, pattern.test(model.texts[file]));
    return files.get(file);
  };
  const has = new Uint8Array(model.nodeCount);
  for (let n = 1; n < has.length; n++)
    has[n] = has[model.parent[n]] || matches[model.frames[0][model.frame[n]]] ||
        inFile(lines.file[model.frames[1][model.frame[n]]]);
  return has;
}

// --- groups: trees that are made while they are looked at

// A frame of a drawing: equal functions below the same frame. Items are tree
// nodes. A drawing of callers goes from a function up to its callers, and then
// each item carries the values with which the path began.
class Group {
  constructor(fn, parent, depth) {
    this.fn = fn;
    this.parent = parent;
    this.depth = depth;
    this.items = [];
    this.carried = null;
    this.value = this.base = this.weight = this.own = 0;
    this.made = null;
  }
}

class GroupTree {
  // merges: a function that calls itself is one frame
  constructor(tree, isUp, merges) {
    this.tree = tree;
    this.isUp = isUp;
    this.merges = Boolean(merges);
    this.root = new Group(-1, null, 0);
  }

  // All stacks, from the root.
  static callees(tree, merges) {
    const g = new GroupTree(tree, false, merges);
    g.put(g.root, 0);
    return g;
  }

  // All stacks, from the functions that have own values.
  static callers(tree) {
    const g = new GroupTree(tree, true);
    g.root.value = tree.total[0];
    g.root.base = tree.base ? tree.totalBase[0] : 0;
    g.root.weight = tree.weight[0];
    const leaves = new Map();
    for (let n = 1; n < tree.own.length; n++)
      if (tree.ownWeight[n])
        g.carry(g.groupOf(leaves, g.root, tree.shape.fn[n]), n, tree.own[n],
                tree.base ? tree.ownBase[n] : 0, tree.ownWeight[n]);
    g.root.made = g.sorted(leaves);
    return g;
  }

  // The stacks with function fn, from this function up or down.
  static around(tree, fn, isUp) {
    const g = new GroupTree(tree, isUp);
    const {shape} = tree;
    g.root.fn = fn;
    for (let n = 1; n < shape.count; n++)
      if (shape.fn[n] === fn && shape.outer[n] && tree.weight[n]) {
        if (isUp)
          g.carry(g.root, n, tree.total[n], tree.base ? tree.totalBase[n] : 0,
                  tree.weight[n]);
        else
          g.put(g.root, n);
      }
    return g;
  }

  put(group, n) {
    const {tree} = this;
    group.items.push(n);
    group.value += tree.total[n];
    group.weight += tree.weight[n];
    group.own += tree.own[n];
    if (tree.base)
      group.base += tree.totalBase[n];
    if (this.merges && n)
      this.putRecursion(group, n);
  }

  // Adds the calls of the function by itself, whose values are in those of n.
  putRecursion(group, n) {
    const {tree: {shape, own}} = this;
    for (const open = [n]; open.length;)
      for (let c = shape.firstChild[open.pop()]; c; c = shape.nextSibling[c])
        if (shape.fn[c] === group.fn) {
          group.items.push(c);
          group.own += own[c];
          open.push(c);
        }
  }

  carry(group, n, value, base, weight) {
    group.items.push(n);
    (group.carried = group.carried || []).push(value, base, weight);
    group.value += value;
    group.base += base;
    group.weight += weight;
  }

  groupOf(map, parent, fn) {
    let group = map.get(fn);
    if (!group) {
      group = new Group(fn, parent, parent.depth + 1);
      map.set(fn, group);
    }
    return group;
  }

  sorted(map) {
    return [...map.values()].sort((a, b) => b.weight - a.weight || a.fn - b.fn);
  }

  children(group) {
    if (group.made)
      return group.made;
    const {shape} = this.tree, map = new Map();
    group.items.forEach((n, i) => {
      if (this.isUp) {
        const up = shape.parent[n];
        const value = group.carried[i * 3], base = group.carried[i * 3 + 1];
        const weight = group.carried[i * 3 + 2];
        if (up)
          this.carry(this.groupOf(map, group, shape.fn[up]), up, value, base, weight);
        else
          group.own += value;
        return;
      }
      for (let c = shape.firstChild[n]; c; c = shape.nextSibling[c])
        if (this.tree.weight[c] && !(this.merges && shape.fn[c] === group.fn))
          this.put(this.groupOf(map, group, shape.fn[c]), c);
    });
    return group.made = this.sorted(map);
  }
}
