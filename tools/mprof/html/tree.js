// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call trees. A shape is a tree of functions, lines or files, without the frames
// of the standard libraries unless they are wanted; it is the same for all
// profiles and values. A tree adds the values of one selection to a shape.

// The runs of nodes of a tree. Each node of a run but the last one has one child, the
// next node, and is not the end of a stack, so all nodes of a run have the same values.
// Most nodes of deep stacks are in long runs. Run 0 is the root. Callees follow their
// callers, so the numbers of runs grow from callers to callees.
class Runs {
  constructor(count) {
    this.of = new Uint32Array(count); // the run of each node
    this.count = 1;
  }

  // parent: of each node. branches: 2 for each node at which a stack ends, or 0.
  *make(parent, branches) {
    const count = parent.length, {of} = this, parts = [];
    for (let n = 1; n < count; n += STEP)
      parts.push([n, Math.min(n + STEP, count)]);
    for (const [from, end] of parts) {
      this.addChildren(parent, branches, from, end);
      yield;
    }
    for (const [from, end] of parts) {
      this.number(parent, branches, from, end);
      yield;
    }
    const runs = this.count;
    this.start = new Uint32Array(runs + 1).fill(count); // the first node of each run
    this.up = new Uint32Array(runs); // the run of the caller
    this.first = new Uint32Array(runs); // the first run of callees, or 0
    this.next = new Uint32Array(runs); // the next run of callees of the same node, or 0
    this.start[0] = 0;
    for (const [from, end] of parts) {
      this.begin(from, end);
      yield;
    }
    for (let r = runs - 1; r > 0; r--) {
      const up = this.up[r] = of[parent[this.start[r]]];
      this.next[r] = this.first[up];
      this.first[up] = r;
    }
  }

  // Sets for each node a number: 2 if it is the end of stacks or has several children, 1
  // if it has one.
  addChildren(parent, branches, from, end) {
    for (let n = from; n < end; n++)
      branches[parent[n]] = branches[parent[n]] ? 2 : 1;
  }

  number(parent, branches, from, end) {
    const {of} = this;
    let {count} = this;
    for (let n = from; n < end; n++)
      of[n] = parent[n] === n - 1 && branches[n - 1] === 1 && n > 1 ? count - 1 : count++;
    this.count = count;
  }

  begin(from, end) {
    const {of, start} = this;
    for (let n = from; n < end; n++)
      if (of[n] !== of[n - 1])
        start[of[n]] = n;
  }

  // The last node of a run.
  last(run) {
    return this.start[run + 1] - 1;
  }

  isLast(node) {
    return this.start[this.of[node] + 1] === node + 1;
  }

  parent(node) {
    const run = this.of[node];
    return node > this.start[run] ? node - 1 : this.last(this.up[run]);
  }

  // The outermost caller of a node.
  outermost(node) {
    let run = this.of[node];
    while (this.up[run])
      run = this.up[run];
    return this.start[run];
  }

  firstChild(node) {
    return this.isLast(node) ? this.start[this.first[this.of[node]]] : node + 1;
  }

  nextSibling(node) {
    const run = this.of[node];
    return node > this.start[run] ? 0 : this.start[this.next[run]];
  }

  // Adds the values of callees to those of their callers. own: those of each run's last node.
  upward(own) {
    const total = own.slice(), {up} = this;
    for (let r = total.length - 1; r > 0; r--)
      total[up[r]] += total[r];
    return total;
  }
}

// Flags of nodes that are in one of the lists, each as 2: it ends its run.
function flagsOf(count, lists) {
  const flags = new Uint8Array(count);
  for (const nodes of lists)
    for (let i = 0; i < nodes.length; i++)
      flags[nodes[i]] = 2;
  return flags;
}

class Shape {
  constructor(model, grain, std) {
    this.model = model;
    this.grain = grain;
    this.std = std;
    this.count = 1;
    this.parent = new Uint32Array(model.nodeCount + 1024);
    this.fn = new Int32Array(this.parent.length).fill(-1);
    this.firstChild = new Uint32Array(this.parent.length);
    // A hash table of the children of nodes that have several.
    this.slots = new Uint32Array(1024);
    this.hashed = 0;
    // The shown node of each stack node.
    this.shown = new Uint32Array(model.nodeCount);
    this.onlyStd = new Map();
    this.steps = this.make();
  }

  *make() {
    for (let n = 1; n < this.model.nodeCount; n += STEP) {
      this.build(n, Math.min(n + STEP, this.model.nodeCount));
      yield;
    }
    // The end of each stack of each profile.
    this.leaves = [];
    for (const profile of this.model.profiles) {
      this.leaves.push(profile.nodes.map(node => this.leaf(node)));
      yield;
    }
    this.fn = this.fn.subarray(0, this.count);
    this.runs = new Runs(this.count);
    yield* this.runs.make(this.parent.subarray(0, this.count), flagsOf(this.count, this.leaves));
    this.slots = this.firstChild = this.parent = null;
    yield;
    this.findOuter();
  }

  // The slot of the hash table that has the child, or that is free.
  slot(parent, fn) {
    const {slots} = this, mask = slots.length - 1;
    let slot = Math.imul(parent, 0x9e3779b1) + Math.imul(fn + 1, 0x85ebca6b);
    slot = Math.imul(slot ^ slot >>> 16, 0x7feb352d);
    slot = (slot ^ slot >>> 15) & mask;
    for (let n = slots[slot]; n && (this.parent[n] !== parent || this.fn[n] !== fn); n = slots[slot])
      slot = slot + 1 & mask;
    return slot;
  }

  // Returns the child of a node, which it adds if needed.
  child(parent, fn) {
    const first = this.firstChild[parent];
    if (!first)
      return this.firstChild[parent] = this.add(parent, fn);
    if (this.fn[first] === fn)
      return first;
    const slot = this.slot(parent, fn);
    return this.slots[slot] || this.addHashed(slot, parent, fn);
  }

  add(parent, fn) {
    const n = this.count++;
    if (n === this.parent.length)
      for (const name of ['parent', 'fn', 'firstChild']) {
        const old = this[name];
        this[name] = new old.constructor(2 * n);
        this[name].set(old);
      }
    this.parent[n] = parent;
    this.fn[n] = fn;
    return n;
  }

  addHashed(slot, parent, fn) {
    const n = this.slots[slot] = this.add(parent, fn);
    if (++this.hashed * 2 > this.slots.length) {
      const old = this.slots;
      this.slots = new Uint32Array(old.length * 2);
      for (const k of old)
        if (k)
          this.slots[this.slot(this.parent[k], this.fn[k])] = k;
    }
    return n;
  }

  // Adds the nodes for some stack nodes. Most of them are the only children.
  build(from, end) {
    const {model, shown, firstChild, fn: fns, parent: parents} = this;
    const of = model.frames[this.grain], {std} = model.functions[this.grain], {parent, frame} = model;
    const showsAll = this.std;
    for (let n = from; n < end; n++) {
      const fn = of[frame[n]], up = shown[parent[n]];
      if (std[fn] && !showsAll) {
        shown[n] = up;
      } else if (firstChild[up]) {
        shown[n] = this.child(up, fn);
      } else {
        const added = shown[n] = firstChild[up] = this.count++;
        parents[added] = up;
        fns[added] = fn;
      }
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

  // Sets outer[n] if no caller of n is the same function.
  findOuter() {
    const {runs: {start, up, first, next}, fn} = this;
    const outer = this.outer = new Uint8Array(this.count);
    const open = new Uint32Array(this.model.functions[this.grain].count);
    const close = run => {
      for (let n = start[run]; n < start[run + 1]; n++)
        open[fn[n]]--;
    };
    for (let run = first[0]; run;) {
      for (let n = start[run]; n < start[run + 1]; n++)
        outer[n] = open[fn[n]]++ ? 0 : 1;
      if (first[run]) {
        run = first[run];
        continue;
      }
      close(run);
      while (run && !next[run]) {
        run = up[run];
        if (run)
          close(run);
      }
      run = run && next[run];
    }
  }
}

// Returns a shape that may lack some of its steps.
function beginShape(model, grain, std) {
  const hasStd = model.functions[grain].std.includes(1);
  const key = grain + (std && hasStd ? 's' : '');
  model.shapes = model.shapes || new Map();
  if (!model.shapes.has(key))
    model.shapes.set(key, new Shape(model, grain, std));
  return model.shapes.get(key);
}

function shapeOf(model, grain, std) {
  const shape = beginShape(model, grain, std);
  while (!shape.steps.next().done);
  return shape;
}

// The values of a selection. For a comparison, the members `base...` are the
// values of the old profile. A weight is the width of a frame: the absolute
// value, or the larger one of both profiles. There is a value for each run of the
// shape: the own values are those of its last node, the others those of each node.
class Tree {
  constructor(model, selection) {
    this.model = model;
    this.shape = shapeOf(model, selection.grain, selection.std);
    this.profile = selection.profile;
    this.type = selection.type;
    this.unit = this.profile.types[this.type].unit;
    const n = this.shape.runs.count;
    this.own = new Float64Array(n);
    this.ownWeight = new Float64Array(n);
    this.ownVariance = new Float64Array(n);
    this.base = selection.base || null;
    this.active = selectStacks(model, selection, this.profile);
    this.sum = this.add(this.profile, this.type, this.active, this.own);
    if (this.base) {
      const type = this.base.typeIndex(this.profile.types[this.type].name);
      this.ownBase = new Float64Array(n);
      this.activeBase = selectStacks(model, selection, this.base);
      this.baseSum = this.add(this.base, type, this.activeBase, this.ownBase);
      for (let i = 0; i < n; i++)
        this.ownWeight[i] = Math.max(Math.abs(this.own[i]), Math.abs(this.ownBase[i]));
      this.totalBase = this.shape.runs.upward(this.ownBase);
    }
    this.total = this.shape.runs.upward(this.own);
    this.weight = this.shape.runs.upward(this.ownWeight);
  }

  // Returns the sum of the absolute values, as in view/view.c.
  add(profile, type, active, own) {
    const {model, shape: {runs: {of}, leaves}, ownWeight, ownVariance} = this;
    const values = profile.values[type], nodes = leaves[profile.index], {sampled} = profile.types[type];
    let sum = 0;
    if (profile === this.profile)
      this.variance = 0;
    for (let i = 0; i < profile.stackCount; i++) {
      const value = values[i];
      if (!value || (active && !active[i]))
        continue;
      const leaf = of[nodes[i]];
      own[leaf] += value;
      sum += Math.abs(value);
      ownWeight[leaf] += Math.abs(value);
      if (!sampled)
        continue;
      const v = variance(model, profile, type, profile.labels[i], value);
      ownVariance[leaf] += v;
      if (profile === this.profile)
        this.variance += v;
    }
    return sum;
  }

  // The sum of the widths of each function's frames.
  get areas() {
    if (this.madeAreas)
      return this.madeAreas;
    const {runs: {start, count}, fn, grain} = this.shape, {weight} = this;
    const areas = this.madeAreas = new Float64Array(this.model.functions[grain].count);
    for (let r = 1; r < count; r++)
      for (let n = start[r], width = weight[r], end = start[r + 1]; n < end; n++)
        areas[fn[n]] += width;
    return areas;
  }

  // The parts of the program that have colours.
  get parts() {
    this.madeParts = this.madeParts || partsOf(this);
    return this.madeParts;
  }

  // The sum of the absolute values of each run of the model, of both profiles of a
  // comparison.
  get stackWeights() {
    if (this.madeStackWeights)
      return this.madeStackWeights;
    const {model: {runs}, profile, base, type} = this, own = new Float64Array(runs.count);
    const add = (p, index, selected) => {
      for (let i = 0; i < p.stackCount; i++)
        if (!selected || selected[i])
          own[runs.of[p.nodes[i]]] += Math.abs(p.values[index][i]);
    };
    add(profile, type, this.active);
    if (base)
      add(base, base.typeIndex(profile.types[type].name), this.activeBase);
    return this.madeStackWeights = runs.upward(own);
  }

  // All stacks, from the root.
  get callees() {
    this.madeCallees = this.madeCallees || GroupTree.callees(this, false);
    return this.madeCallees;
  }

  // The numbers of small stacks that end in the nodes that stand for them.
  get joined() {
    if (this.madeJoined)
      return this.madeJoined;
    const {profile, active, shape} = this, counts = this.madeJoined = new Map();
    for (const [i, count] of profile.joined || [])
      if (profile.values[this.type][i] && (!active || active[i])) {
        const leaf = shape.leaf(profile.nodes[i]);
        counts.set(leaf, (counts.get(leaf) || 0) + count);
      }
    return counts;
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
    active[i] = matching[profile.labels[i]] && (!has || has(profile.nodes[i])) ? 1 : 0;
  return active;
}

// Returns a function: whether the end of a stack or a caller matches the expression.
function nodesWith(model, grain, pattern) {
  const matches = matchingFunctions(model, 0, pattern);
  const lines = model.functions[1];
  const inFile = fileTest(model, pattern);
  const {runs: {start, up, of, count}, frame} = model;
  const found = Uint8Array.from(model.frames[0], (fn, i) =>
    matches[fn] || inFile(lines.file[model.frames[1][i]]) ? 1 : 0);
  const has = new Uint8Array(count);
  for (let r = 1; r < count; r++) {
    has[r] = has[up[r]];
    for (let n = start[r]; n < start[r + 1] && !has[r]; n++)
      has[r] = found[frame[n]];
  }
  return node => has[of[node]];
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
    const leaves = new Map(), {runs, fn} = tree.shape;
    for (let r = 1; r < runs.count; r++)
      if (tree.ownWeight[r])
        g.carry(g.groupOf(leaves, g.root, fn[runs.last(r)]), runs.last(r), tree.own[r],
                tree.base ? tree.ownBase[r] : 0, tree.ownWeight[r]);
    g.root.made = g.sorted(leaves.values());
    return g;
  }

  // The stacks with function fn, from this function up and from it down.
  static around(tree, fn) {
    const up = new GroupTree(tree, true), down = new GroupTree(tree, false);
    const {fn: fns, outer, runs: {of}} = tree.shape;
    up.root.fn = down.root.fn = fn;
    for (let n = 1; n < fns.length; n++) {
      if (fns[n] !== fn || !outer[n])
        continue;
      const r = of[n];
      if (!tree.weight[r])
        continue;
      up.carry(up.root, n, tree.total[r], tree.base ? tree.totalBase[r] : 0, tree.weight[r]);
      down.put(down.root, n);
    }
    return {up, down};
  }

  put(group, n) {
    const {tree} = this, r = tree.shape.runs.of[n];
    group.items.push(n);
    group.value += tree.total[r];
    group.weight += tree.weight[r];
    group.own += this.own(n);
    if (tree.base)
      group.base += tree.totalBase[r];
    if (this.merges && n)
      this.putRecursion(group, n);
  }

  // Adds the calls of the function by itself, whose values are in those of n.
  putRecursion(group, n) {
    const {tree: {shape: {runs, fn}}} = this;
    for (const open = [n]; open.length;)
      for (let c = runs.firstChild(open.pop()); c; c = runs.nextSibling(c))
        if (fn[c] === group.fn) {
          group.items.push(c);
          group.own += this.own(c);
          open.push(c);
        }
  }

  own(n) {
    const {own, shape: {runs}} = this.tree;
    return runs.isLast(n) ? own[runs.of[n]] : 0;
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

  sorted(groups) {
    return [...groups].sort((a, b) => b.weight - a.weight || a.fn - b.fn);
  }

  children(group) {
    if (group.made)
      return group.made;
    const {shape, shape: {runs}} = this.tree;
    if (group.items.length === 1 && !this.isUp)
      return group.made = this.sorted(this.calleesOf(group));
    const map = new Map();
    group.items.forEach((n, i) => {
      if (this.isUp) {
        const up = runs.parent(n);
        const value = group.carried[i * 3], base = group.carried[i * 3 + 1];
        const weight = group.carried[i * 3 + 2];
        if (up)
          this.carry(this.groupOf(map, group, shape.fn[up]), up, value, base, weight);
        else
          group.own += value;
        return;
      }
      for (let c = runs.firstChild(n); c; c = runs.nextSibling(c))
        if (this.tree.weight[runs.of[c]] && !(this.merges && shape.fn[c] === group.fn))
          this.put(this.groupOf(map, group, shape.fn[c]), c);
    });
    return group.made = this.sorted(map.values());
  }

  // The groups of the callees of a group's only node, which are different functions. If
  // recursion is merged, none of them is the group's function.
  *calleesOf(group) {
    const {weight, shape: {runs, fn}} = this.tree;
    for (let c = runs.firstChild(group.items[0]); c; c = runs.nextSibling(c)) {
      if (!weight[runs.of[c]])
        continue;
      const callee = new Group(fn[c], group, group.depth + 1);
      this.put(callee, c);
      yield callee;
    }
  }
}
