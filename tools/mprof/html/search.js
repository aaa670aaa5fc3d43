// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search: what a text that a user types finds, in all views.

// Arguments that the standard library adds to its templates by itself.
const DEFAULT_ARGUMENT = /, ?std::(?:allocator|char_traits|less|hash|equal_to|default_delete)</g;
const CHARACTERS = {char: '', wchar_t: 'w', char8_t: 'u8', char16_t: 'u16', char32_t: 'u32'};

// Returns the name without inline namespaces of libstdc++ and libc++.
function withoutInlineNamespaces(name) {
  return name.includes('::_') || name.includes('[abi:') ?
      name.replace(/\bstd::__(?:cxx11|\d+|ndk1|fs|debug)::/g, 'std::').replace(/::_V\d+::/g, '::')
          .replace(/\[abi:\w+\]/g, '') : name;
}

// Returns the ends of the brackets of a name, by the places of their "<".
function endsOfBrackets(name) {
  const ends = new Map(), open = [];
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code === 60)
      open.push(at);
    else if (code === 62 && open.length)
      ends.set(open.pop(), at + 1);
  }
  return ends;
}

function withoutDefaultArguments(name) {
  if (!name.includes(', std::') && !name.includes(',std::'))
    return name;
  let kept = '', from = 0, ends = null;
  for (const found of name.matchAll(DEFAULT_ARGUMENT)) {
    ends = ends || endsOfBrackets(name);
    const end = ends.get(found.index + found[0].length - 1);
    if (found.index < from || !',>'.includes(name[end] || ' '))
      continue;
    kept += name.slice(from, found.index);
    from = end;
  }
  return kept + name.slice(from);
}

// Returns the name as in source text: "std::vector<std::string>::at(unsigned long)". A
// shown name lacks the arguments of basic_string, which are those of std::string in most cases.
function withAliases(name) {
  name = withoutDefaultArguments(name.includes(' >') ? name.replace(/ >/g, '>') : name);
  return !name.includes('std::basic_') ? name : name
      .replace(/\bstd::basic_(\w+)<(\w+)>/g, (all, of, type) => Object.hasOwn(CHARACTERS, type) ?
          `std::${CHARACTERS[type]}${of}` : all)
      .replace(/\bstd::basic_(\w+)(?![\w<])/g, 'std::$1');
}

// All forms of the names with several. Longer names have one, because this takes long.
const MAX_NAME = 20000, nameForms = new Map();

function formsOf(name) {
  if (!/\bstd::|> >/.test(name) || name.length > MAX_NAME)
    return [name];
  let forms = nameForms.get(name);
  if (!forms) {
    const outer = withoutInlineNamespaces(name);
    forms = [...new Set([name, outer, withAliases(outer)])];
    nameForms.set(name, forms);
  }
  return forms;
}

const MAX_SEARCH = 1000, SPECIAL = /[\\^$.*+?()[\]{}|]/g;

// What is searched: a text, or a regular expression, without regard to case. A text that
// is both finds both, so that a copied name such as "f(int)" finds its function.
class Search {
  constructor(text) {
    text = text.slice(0, MAX_SEARCH);
    this.plain = new RegExp(text.replace(SPECIAL, '\\$&'), 'i');
    this.expression = null;
    this.reason = ''; // why the text is no expression
    try {
      if (this.plain.source !== text)
        this.expression = new Expression(text);
    } catch (error) {
      this.reason = error.message.replace(/^.*: /s, '').replace(/^./, c => c.toLowerCase());
    }
  }

  // Returns whether a name matches as it is shown, or as in source text.
  test(name) {
    return formsOf(name).some(form => this.plain.test(form) || (this.expression && this.expression.test(form)));
  }

  // "3 functions match", and what a user must know about this number.
  countText(count, noun) {
    const note = this.expression && this.expression.gaveUp ? ' at least, because the expression is too complex' :
        this.reason ? ` as plain text (${this.reason})` : '';
    return `${counted(count, noun)} ${count === 1 ? 'matches' : 'match'}${note}`;
  }
}

function matchingFunctions(model, grain, pattern) {
  const {count, name} = model.functions[grain];
  const matches = new Uint8Array(count);
  const known = new Uint8Array(model.texts.length); // of names: 1 if they match, 2 if not
  for (let f = 0; f < count; f++) {
    known[name[f]] = known[name[f]] || (model.matches(grain, f, pattern) ? 1 : 2);
    matches[f] = known[name[f]] & 1;
  }
  return matches;
}

// Returns a function: whether the expression fits the path of a file, which is tested once.
function fileTest({texts}, pattern) {
  const known = new Map();
  return file => {
    if (!known.has(file))
      known.set(file, pattern.test(texts[file]));
    return known.get(file);
  };
}

// The functions that a search found in a tree: their number, and the weight of the stacks
// with them. Small stacks are known only as the sums of their functions (small_stacks.c):
// the weight of several may be larger, if isLess. rowsOf: returns the rows of the tree, which
// are needed only if they have values of small stacks.
function foundIn(tree, rowsOf, matches) {
  const {profile, base, active, areas} = tree, isJoined = Boolean(profile.small || (base && base.small));
  const hasLosses = isJoined && !active, rows = hasLosses ? rowsOf().filter(row => matches[row.fn]) : [];
  const functions = hasLosses ? rows.map(row => row.fn) : [...areas.keys()].filter(fn => areas[fn] && matches[fn]);
  const count = functions.length;
  const weight = rows.reduce((most, row) => Math.max(most, Math.abs(row.cum)), foundWeight(tree, matches));
  return {count, functions, weight,
    isLess: isJoined && count > 0 && (count > 1 || active || base) && weight < tree.weight[0]};
}

// The weight of all stacks that contain a function that the search found.
function foundWeight({shape: {fn, runs: {count, start, up}}, weight}, matches) {
  const inside = new Uint8Array(count);
  let sum = 0;
  for (let r = 1; r < count; r++) {
    inside[r] = inside[up[r]];
    for (let n = start[r]; n < start[r + 1] && !inside[r]; n++)
      if (matches[fn[n]]) {
        inside[r] = 1;
        sum += weight[r];
      }
  }
  return sum;
}
