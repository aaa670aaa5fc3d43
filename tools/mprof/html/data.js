// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the tables of the page (page.c).

function bytesOf(data) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(data);
  const text = atob(data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = text.charCodeAt(i);
  return bytes;
}

class Stream {
  constructor({count, data}) {
    this.count = count;
    this.at = 0;
    this.bytes = bytesOf(data);
  }

  next() {
    let byte = this.bytes[this.at++];
    let number = byte & 127;
    for (let place = 128; byte >= 128; place *= 128) {
      byte = this.bytes[this.at++];
      number += (byte & 127) * place;
    }
    return number;
  }

  signed() {
    // A large number may lose its last bit, which is the sign.
    const isNegative = this.bytes[this.at] & 1, number = this.next();
    return isNegative ? -(number + 1) / 2 : number / 2;
  }
}

// Replaces characters that cannot be seen or turn the text around, as mprof top does.
function visible(text) {
  return text.replace(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '?');
}

// The number of nodes that are handled in a part of a tenth of a second.
const STEP = 250000;

// Does the steps of a generator, and lets the browser do something else when they
// take long. isOver: whether the other steps are not wanted any more
async function inSlices(steps, isOver = () => false) {
  for (let since = performance.now(); !isOver() && !steps.next().done;)
    if (performance.now() - since > 15) {
      await new Promise(done => setTimeout(done));
      since = performance.now();
    }
}

const GRAINS = ['functions', 'lines', 'files'];

// The functions, lines or files of all profiles.
class Functions {
  constructor(table) {
    const s = new Stream(table);
    const n = this.count = s.count;
    this.name = new Uint32Array(n);
    this.file = new Uint32Array(n);
    this.line = new Float64Array(n);
    this.std = new Uint8Array(n);
    this.module = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      this.name[i] = s.next();
      this.file[i] = s.next();
      this.line[i] = s.signed();
      this.std[i] = s.next();
      this.module[i] = s.next();
    }
  }
}

class Profile {
  constructor(data, index) {
    Object.assign(this, data);
    this.index = index;
    const s = new Stream(data.stacks), n = s.count;
    this.stackCount = n;
    this.nodes = new Uint32Array(n);
    this.labels = new Uint32Array(n);
    this.values = this.types.map(() => new Float64Array(n));
    let node = 0, labels = 0;
    if (data.small)
      this.readSmall(data.small);
    for (let i = 0; i < n; i++) {
      this.nodes[i] = node += s.signed();
      this.labels[i] = labels += s.signed();
      for (const values of this.values)
        values[i] = s.signed();
    }
  }

  // Reads the numbers of stacks that are joined, and the values that the functions
  // have lost because of this (small_stacks.c), for each type of values: of
  // functions, and the sums of other functions.
  readSmall(small) {
    const s = new Stream(small.joined);
    this.joined = new Map();
    for (let i = 0; i < s.count; i++)
      this.joined.set(s.next(), s.next());
    this.joinedCount = [...this.joined.values()].reduce((a, b) => a + b, 0);
    this.smallRows = GRAINS.map(name => this.readLosses(small[name]));
    this.smallRests = GRAINS.map(name => {
      const rest = new Stream(small[name + '_rest']);
      return {count: rest.count, types: this.types.map(() => [rest.signed(), rest.signed()])};
    });
  }

  readLosses(table) {
    const s = new Stream(table), rows = [];
    for (let i = 0; i < s.count; i++)
      rows.push({fn: s.next(), line: s.next(), types: this.types.map(() => ({
        flat: [s.signed(), s.signed()], cum: s.signed(), variance: [s.next(), s.next()]
      }))});
    return rows;
  }

  typeIndex(name) {
    return this.types.findIndex(t => t.name === name);
  }

  // Returns whether the program has run its destructors, which free blocks.
  isAtExit() {
    return this.comment('written') === 'at exit';
  }

  comment(name) {
    const text = this.comments.find(c => c.startsWith(name + ': '));
    return text && text.slice(name.length + 2);
  }
}

class Model {
  // Reads the tables. Each step takes only a part of a tenth of a second.
  *read(data) {
    this.start = data.start;
    this.texts = data.texts.map(visible);
    yield;
    this.readWholeNames(data.wholeNames);
    this.functions = [];
    for (const name of GRAINS) {
      yield;
      this.functions.push(new Functions(data[name]));
    }
    this.readFrames(data.frames);
    // The function that stands for small stacks that are cut off, or -1.
    this.smallFunctions = this.frames.map(of => 'smallFrame' in data ? of[data.smallFrame] : -1);
    yield;
    yield* this.readNodes(data.nodes);
    yield* this.readLabels(data.labelSets);
    this.profiles = [];
    for (const profile of data.profiles) {
      yield;
      this.profiles.push(new Profile(profile, this.profiles.length));
    }
    yield;
    this.runs = new Runs(this.nodeCount);
    yield* this.runs.make(this.parent, flagsOf(this.nodeCount, this.profiles.map(p => p.nodes)));
    yield;
    this.traces = data.traces.map(Trace.begin);
    for (const {steps} of this.traces) {
      yield;
      yield* steps;
    }
    this.memoryParts = data.memoryParts;
    this.reports = data.reports.map(({name, lines}) => ({name, lines: lines.map(visible)}));
    this.sources = new Map();
    for (const [file, lines] of data.sources) {
      const map = new Map();
      for (let i = 0; i < lines.length; i += 2)
        map.set(lines[i], lines[i + 1]);
      this.sources.set(file, map);
    }
  }

  // Reads the names in the source text of functions with shorter shown names.
  readWholeNames(table) {
    const s = new Stream(table);
    this.wholeNames = new Map();
    for (let i = 0; i < s.count; i++) {
      const shown = s.next();
      let whole = '';
      for (let piece = s.next(); piece; piece = s.next())
        whole += this.texts[piece];
      this.wholeNames.set(shown, whole);
    }
  }

  readFrames(table) {
    const s = new Stream(table);
    this.frames = GRAINS.map(() => new Uint32Array(s.count));
    for (let i = 0; i < s.count; i++)
      for (const column of this.frames)
        column[i] = s.next();
  }

  // Node 0 is the root. Callees follow their callers.
  *readNodes(table) {
    const s = new Stream(table), n = s.count + 1;
    this.nodeCount = n;
    this.parent = new Uint32Array(n);
    this.frame = new Uint32Array(n);
    for (let i = 1; i < n;) {
      yield;
      i = this.readRuns(s, i, Math.min(n, i + STEP));
    }
  }

  // Reads runs of nodes that begin before a node. Returns the next node.
  readRuns(s, first, end) {
    const {parent: parents, frame} = this;
    let i = first;
    while (i < end) {
      let parent = i - 1;
      for (let up = s.next(); up > 0; up--)
        parent = parents[parent];
      for (let left = s.next(); left > 0; left--) {
        parents[i] = parent;
        frame[i] = s.next();
        parent = i++;
      }
    }
    return i;
  }

  *readLabels(table) {
    const s = new Stream(table);
    this.labelSets = [];
    // The size of a heap profile's blocks.
    this.blockSizes = new Float64Array(s.count);
    // The rate at which they were sampled, or 0 for the profile's period.
    this.rates = new Float64Array(s.count);
    const numbers = new Map([['bytes', this.blockSizes], ['heap_rate', this.rates]]);
    for (let i = 0; i < s.count; i++) {
      if (i % 50000 === 0)
        yield;
      const set = [];
      for (let n = s.next(); n > 0; n--) {
        const key = this.texts[s.next()], value = this.texts[s.next()];
        set.push([key, value]);
        const column = numbers.get(key);
        if (column && value > 0 && !column[i])
          column[i] = Number(value);
      }
      this.labelSets.push(set);
    }
  }

  name(grain, f) {
    return this.texts[this.functions[grain].name[f]];
  }

  // Returns the name with template arguments and parameters, as mprof top
  // --full-names prints it.
  wholeName(grain, f) {
    return this.wholeNames.get(this.functions[grain].name[f]) || this.name(grain, f);
  }

  // Returns whether the expression fits the shown or the whole name.
  matches(grain, f, pattern) {
    const whole = this.wholeNames.get(this.functions[grain].name[f]);
    return pattern.test(this.name(grain, f)) || (whole !== undefined && pattern.test(whole));
  }
}

// Returns the variance of a value as view/estimate.c does. labels: the number of the
// stack's label set.
function variance(model, profile, type, labels, value) {
  const blockSize = model.blockSizes[labels];
  const period = model.rates[labels] || profile.period;
  const {sampled, unit} = profile.types[type];
  if (!sampled || value === 0 || blockSize <= 0 || period <= 1)
    return 0;
  const chance = -Math.expm1(-blockSize / period);
  return Math.abs(value) * (unit === 'bytes' ? blockSize : 1) * (1 - chance) / chance;
}
