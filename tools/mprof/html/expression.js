// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular expressions whose time grows only with the length of the text. The
// browser's own ones try one way after the other: "(a+)+$" would stop the page for
// hours. Here, all ways are followed at once (Thompson's automaton), and the sets of
// places in the expression are kept as states of a deterministic automaton, as in RE2.

const MAX_PLACES = 4000; // of an expression, with its repetitions
const MAX_WORK = 1e6;    // of making states, about 50 ms

const isWordCode = code => code >= 48 && code <= 57 || code >= 65 && code <= 90 || code === 95 ||
    code >= 97 && code <= 122;
const isSpaceCode = code => /\s/.test(String.fromCharCode(code));
const CLASSES = {
  d: code => code >= 48 && code <= 57, w: isWordCode, s: isSpaceCode
};
const CONTROLS = {n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0};

// Returns the form in which the browser's expressions compare characters without regard
// to case: the capital, unless it is several characters, or only the capital is ASCII.
function foldCase(code) {
  const capital = String.fromCharCode(code).toUpperCase(), folded = capital.charCodeAt(0);
  return capital.length > 1 || (code >= 128 && folded < 128) ? code : folded;
}

// Returns whether the character is in the set, without regard to case.
function isIn({has, isNegative}, code) {
  const capital = foldCase(code), small = String.fromCharCode(capital).toLowerCase().charCodeAt(0);
  return isNegative !== (has(code) || has(capital) || (foldCase(small) === capital && has(small)));
}

// A set of one character.
function setOf(code) {
  const folded = foldCase(code);
  return {has: other => foldCase(other) === folded, isNegative: false, code};
}

// Makes the automaton of an expression that the browser has found to be right. A part is
// a function that returns its first place when it is given the place after it.
class ExpressionReader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.count = 0;
  }

  place(kind) {
    if (++this.count > MAX_PLACES)
      throw new Error('The expression is too long');
    return Object.assign(kind, {id: this.count});
  }

  take(text) {
    const isNext = this.text.startsWith(text, this.at);
    this.at += isNext ? text.length : 0;
    return isNext;
  }

  next() {
    return this.text[this.at++];
  }

  alternatives() {
    const all = [this.sequence()];
    while (this.take('|'))
      all.push(this.sequence());
    return all.length === 1 ? all[0] : after => this.place({ways: all.map(part => part(after))});
  }

  sequence() {
    const parts = [];
    while (this.at < this.text.length && !'|)'.includes(this.text[this.at]))
      parts.push(this.repeated(this.atom()));
    return after => parts.reduceRight((place, part) => part(place), after);
  }

  repeated(part) {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(this.text.slice(this.at, this.at + 40));
    if (!found)
      return part;
    this.at += found[0].length;
    this.take('?'); // fewer or more, the same texts match
    const [sign, least, comma, most] = found;
    const min = least ? Number(least) : sign === '+' ? 1 : 0;
    const max = sign === '?' ? 1 : most ? Number(most) : least && !comma ? min : Infinity;
    return after => {
      let place = after;
      if (max === Infinity) {
        place = this.place({ways: []});
        place.ways.push(part(place), after);
      }
      for (let i = min; i < max && max !== Infinity; i++)
        place = this.place({ways: [part(place), after]});
      for (let i = 0; i < min; i++)
        place = part(this.place({ways: [place]}));
      return place;
    };
  }

  atom() {
    const c = this.next();
    if (c === '(')
      return this.group();
    if (c === '[')
      return this.characters(this.brackets());
    if (c === '\\')
      return this.escaped();
    if (c === '^' || c === '$')
      return this.border(c === '^' ? before => before === null : (_, after) => after === null);
    if (c === '.')
      return this.characters({has: code => code === 10 || code === 13 || code === 0x2028 || code === 0x2029,
        isNegative: true});
    return this.character(c.charCodeAt(0));
  }

  group() {
    const isNamed = /^\?<[^=!]/.test(this.text.slice(this.at, this.at + 3));
    if (isNamed)
      this.at = this.text.indexOf('>', this.at) + 1;
    else if (!this.take('?:') && this.text[this.at] === '?')
      throw new Error('Look-ahead, look-behind and options in an expression are not possible here');
    const part = this.alternatives();
    this.take(')');
    return part;
  }

  characters(set) {
    return after => this.place({set, after});
  }

  character(code) {
    return this.characters(setOf(code));
  }

  border(fits) {
    return after => this.place({fits, ways: [after]});
  }

  escaped() {
    const c = this.text[this.at];
    if (/[bB]/.test(c)) {
      this.at++;
      const isWord = code => code !== null && isWordCode(code);
      return this.border((before, after) => (isWord(before) !== isWord(after)) === (c === 'b'));
    }
    if (/[1-9k]/.test(c))
      throw new Error('Back references in an expression are not possible here');
    return this.characters(this.escape());
  }

  // A set behind a backslash.
  escape() {
    const c = this.next(), isNegative = /[DWS]/.test(c);
    const has = CLASSES[c.toLowerCase()];
    if (has)
      return {has, isNegative};
    const hex = /^(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/.exec(this.text.slice(this.at - 1, this.at + 4));
    if (hex)
      this.at += hex[0].length - 1;
    return setOf(hex ? parseInt(hex[0].slice(1), 16) : c in CONTROLS ? CONTROLS[c] : c.charCodeAt(0));
  }

  brackets() {
    const isNegative = this.take('^'), sets = [];
    const one = () => {
      const c = this.next(), code = c.charCodeAt(0);
      return c !== '\\' ? setOf(code) : this.take('b') ? setOf(8) : this.escape();
    };
    while (!this.take(']')) {
      const low = one();
      if (low.code !== undefined && this.text[this.at] === '-' && this.text[this.at + 1] !== ']') {
        this.at++;
        const high = one();
        sets.push(high.code === undefined ? {has: code => low.has(code) || code === 45 || isIn(high, code), isNegative: false} :
            {has: code => code >= low.code && code <= high.code, isNegative: false});
      } else {
        sets.push(low);
      }
    }
    return {has: code => sets.some(set => set.has(code) !== set.isNegative), isNegative};
  }
}

// An expression that a text matches if a part of it fits, without regard to case.
class Expression {
  // Throws an error if the expression is wrong, or not possible here.
  constructor(text) {
    new RegExp(text, 'i');
    const reader = new ExpressionReader(text);
    this.end = reader.place({});
    this.start = reader.alternatives()(this.end);
    this.states = new Map();
    this.work = 0;
    this.begin = this.stateOf([this.start], null);
  }

  // Returns whether so many states were needed that the answers are not right any more.
  get gaveUp() {
    return this.work > MAX_WORK;
  }

  test(text) {
    let state = this.begin;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const next = code < 128 ? state.ascii[code] : state.others.get(code);
      state = next || this.step(state, code);
      if (!state.places)
        return state.isFound;
    }
    if (state.fitsAtEnd === undefined)
      state.fitsAtEnd = this.closure(state, null).includes(this.end);
    return state.fitsAtEnd;
  }

  // places: where a text that was read so far may be in the expression. before: its last character.
  stateOf(places, before) {
    const kind = before === null ? 0 : isWordCode(before) ? 1 : 2;
    const key = kind + ':' + places.map(p => p.id).sort((a, b) => a - b).join();
    if (!this.states.has(key))
      this.states.set(key, {places, before, ascii: [], others: new Map()});
    return this.states.get(key);
  }

  // Returns the places to which the state leads without reading a character. after: the
  // character that comes next, or null.
  closure({places, before}, after) {
    const seen = new Set(), open = [...places];
    while (open.length) {
      const place = open.pop();
      if (seen.has(place))
        continue;
      seen.add(place);
      if (place.ways && (!place.fits || place.fits(before, after)))
        open.push(...place.ways);
    }
    this.work += seen.size + 50;
    return [...seen];
  }

  step(state, code) {
    if (this.gaveUp)
      return {isFound: false};
    const places = this.closure(state, code);
    // The rest of the text may begin a match, too.
    const next = places.includes(this.end) ? {isFound: true} : this.stateOf([...new Set([this.start,
      ...places.filter(p => p.set && isIn(p.set, code)).map(p => p.after)])], code);
    if (code < 128)
      state.ascii[code] = next;
    else
      state.others.set(code, next);
    return next;
  }
}
