// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as text, in the form of terminal/quantity.c.

const SCALES = {
  bytes: [[2 ** 60, 'EiB'], [2 ** 50, 'PiB'], [2 ** 40, 'TiB'], [2 ** 30, 'GiB'],
          [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
  nanoseconds: [[3.6e12, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'],
                [1, 'ns']],
  other: [[1, '']]
};

function scaleOf(size, unit) {
  const scales = SCALES[Object.hasOwn(SCALES, unit) ? unit : 'other'];
  return scales.find(([from]) => from === 1 || size >= from * 0.9995);
}

function wholeText(value) {
  const digits = Math.floor(Math.abs(value) + 0.5).toFixed(0);
  return (value < 0 ? '\u2212' : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

function scaledText(value, [from]) {
  if (from === 1)
    return wholeText(value);
  const scaled = value / from, size = Math.abs(scaled);
  return scaled.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0).replace('-', '\u2212');
}

function quantity(value, unit) {
  const scale = scaleOf(Math.abs(value), unit);
  return scaledText(value, scale) + (scale[1] ? '\u00a0' + scale[1] : '');
}

function quantityWithError(value, variance, unit) {
  if (!(variance > 0))
    return quantity(value, unit);
  const error = Math.sqrt(variance);
  const scale = scaleOf(Math.max(Math.abs(value), error), unit);
  return scaledText(value, scale) + ' \u00b1 ' + scaledText(error, scale) +
      (scale[1] ? '\u00a0' + scale[1] : '');
}

// A difference, always with its sign.
function change(value, unit) {
  return value > 0 ? '+' + quantity(value, unit) : quantity(value, unit);
}

function share(part, whole) {
  const value = whole ? 100 * part / whole : 0;
  return value.toFixed(Math.abs(value) < 9.95 && value !== 0 ? 1 : 0)
      .replace('-', '\u2212') + '\u00a0%';
}

function baseName(path) {
  const slash = path.lastIndexOf('/');
  return slash >= 0 && slash + 1 < path.length ? path.slice(slash + 1) : path;
}

function dateText(milliseconds) {
  return milliseconds > 0 ?
      new Date(milliseconds).toISOString().replace('T', ' ').slice(0, 19) + ' UTC' : '';
}

// A name in a table, or in a text of several lines.
function briefName(name) {
  return shortenName(name, 160);
}

// "1 thread", "9 threads"
function counted(count, noun) {
  return `${wholeText(count)} ${noun}${Math.round(count) === 1 ? '' : 's'}`;
}

// The pairs of brackets of template arguments and parameters that are in no other
// ones.
function bracketGroups(name) {
  const groups = [];
  let depth = 0, start = 0;
  for (let i = 0; i < name.length; i++) {
    if (name.startsWith('operator', i)) {
      i += 7;
      while ('<>-=()'.includes(name[i + 1] || ' '))
        i++;
    } else if ('<('.includes(name[i]) && (i || depth)) {
      if (depth++ === 0)
        start = i;
    } else if ('>)'.includes(name[i]) && depth > 0 && name[i - 1] !== '-' && --depth === 0) {
      groups.push([start, i]);
    }
  }
  return groups;
}

// Returns where the name goes on after its first qualifier, or 0.
function afterQualifier(name) {
  let depth = 0;
  for (let i = 0; i + 2 < name.length; i++) {
    if (name.startsWith('operator', i))
      return 0;
    if ('<('.includes(name[i]))
      depth++;
    else if ('>)'.includes(name[i]))
      depth--;
    else if (depth === 0 && name[i] === ':' && name[i + 1] === ':')
      return i + 2;
  }
  return 0;
}

// Names of this length are shortened once to it, because this takes long.
const LONG_NAME = 400, longNames = new Map();

// Shortens a name of C++ to a number of characters: cuts template arguments and
// parameters, then drops qualifiers, then cuts the end. Returns '' for less than 3 characters.
function shortenName(name, room) {
  if (name.length <= room)
    return name;
  if (name.length > LONG_NAME) {
    if (!longNames.has(name))
      longNames.set(name, cutName(name, LONG_NAME));
    name = longNames.get(name);
  }
  return cutName(name, room);
}

function cutName(name, room) {
  const groups = bracketGroups(name).sort((a, b) => (b[1] - b[0]) - (a[1] - a[0]));
  // Later groups keep their place if the last ones are cut first.
  let rest = name.length - room;
  const cuts = [];
  for (const [from, to] of groups) {
    const inner = to - from - 1;
    if (rest <= 0 || inner < 3)
      break;
    const kept = Math.max(0, inner - rest - 1);
    cuts.push([from + 1 + kept, to]);
    rest -= inner - kept - 1;
  }
  for (const [from, to] of cuts.sort((a, b) => b[0] - a[0]))
    name = name.slice(0, from) + '\u2026' + name.slice(to);
  for (let at = afterQualifier(name); at && name.length > room; at = afterQualifier(name))
    name = name.slice(at);
  if (name.length <= room)
    return name;
  return room < 3 ? '' : name.slice(0, room - 1) + '\u2026';
}

// The nouns for values without a unit.
const NOUNS = {
  threads: 'thread', threadcreate: 'thread', threadleak: 'stuck thread', contentions: 'wait',
  alloc_objects: 'block', inuse_objects: 'block', temporary_objects: 'temporary block',
  freed_objects: 'freed block'
};

// " threads" or " thread" behind the value of a tree, or "".
function nounOf({profile, type, unit}, value) {
  const noun = unit === 'count' && NOUNS[profile.types[type].name];
  return noun ? ' ' + noun + (Math.round(Math.abs(value)) === 1 ? '' : 's') : '';
}

// The sum of a tree: "9 threads", "4.97 \u00b1 0.13 MiB".
function amountText(tree) {
  return quantityWithError(tree.sum, tree.variance, tree.unit) + nounOf(tree, tree.sum);
}
