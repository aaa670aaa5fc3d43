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
