'use strict';

// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the document. Texts reach the document only as text nodes and
// attributes, never as markup.

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false)
      continue;
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else
      element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== undefined && child !== null && child !== false)
      element.append(child);
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(
      c => c !== undefined && c !== null && c !== false));
  return element;
}

// A <select>. options: pairs of a value and a text.
function select(label, options, value, change) {
  const box = h('select', {
    'aria-label': label, title: label, onchange: () => change(box.value)
  }, options.map(([v, text]) => h('option', {value: v}, text)));
  box.value = value;
  return box;
}

function checkbox(label, title, value, change) {
  const box = h('input', {type: 'checkbox', onchange: () => change(box.checked)});
  box.checked = value;
  return h('label', {class: 'check', title}, box, label);
}

// The colours of the style sheet, for what is drawn on a canvas.
function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The query is kept, because a flame graph asks once for each frame.
const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => !printing && darkScheme.matches;
let printing = false;

// A canvas that fills its box. `draw(context, width, height)` is called when the
// size, the colours or the scale of the screen change. `resize()` sets the height
// of a canvas whose rows scroll: a printed canvas has all rows.
class Picture {
  constructor(attributes, draw, resize) {
    this.canvas = h('canvas', attributes);
    this.draw = draw;
    this.resize = resize;
    this.waiting = false;
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    Picture.all.add(this);
  }

  redraw() {
    if (this.waiting)
      return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.waiting = false;
    const {canvas} = this;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height)
      return;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) ||
        canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, width, height);
  }
}
Picture.all = new Set();
Picture.redrawAll = () => {
  for (const picture of Picture.all)
    if (picture.canvas.isConnected)
      picture.drawNow();
};
Picture.print = on => {
  printing = on;
  for (const {canvas, resize} of Picture.all)
    if (canvas.isConnected && resize)
      resize();
  Picture.redrawAll();
};
// Browsers draw no larger canvas.
const MAX_CANVAS = 16000;

// The part of what is in view that is in view after a turn of the wheel.
function wheelFactor({deltaY}) {
  return Math.exp(Math.max(-300, Math.min(300, deltaY)) * 0.0022);
}

// Copies a text to the clipboard, also where the page may not use the newer call.
function copyText(text) {
  const box = h('textarea', {class: 'copied'}), old = document.activeElement;
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
  if (old)
    old.focus({preventScroll: true});
}

// Cuts the text in the middle of the drawing so that it fits the width.
function fitText(context, text, width, perCharacter) {
  const room = Math.floor(width / perCharacter);
  if (text.length <= room)
    return text;
  return room < 3 ? '' : text.slice(0, room - 1) + '\u2026';
}

const tip = {
  element: null,
  show(x, y, lines) {
    if (!this.element) {
      this.element = h('div', {class: 'tip', role: 'presentation'});
      document.body.append(this.element);
    }
    fill(this.element, lines.map((l, i) => h('div', {class: i ? '' : 'strong'}, shortenName(l, 800))));
    this.element.hidden = false;
    const {offsetWidth, offsetHeight} = this.element;
    const left = Math.min(x + 14, innerWidth - offsetWidth - 8);
    const top = y + 18 + offsetHeight > innerHeight ? y - offsetHeight - 10 : y + 18;
    this.element.style.left = Math.max(4, left) + 'px';
    this.element.style.top = Math.max(4, top) + 'px';
  },
  hide() {
    if (this.element)
      this.element.hidden = true;
  }
};
