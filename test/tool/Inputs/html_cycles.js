// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says for each picture of a cycle how many boxes and visible arrows it has, and
// whether a box overlaps another one or an arrow.

setTimeout(() => {
  const rects = (ring, selector) => [...ring.querySelectorAll(selector)].map(e => e.getBoundingClientRect());
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  for (const ring of document.querySelectorAll('.ring')) {
    const boxes = rects(ring, '.ring-box'), all = boxes.concat(rects(ring, '.ring-arrow'));
    const isClear = boxes.every((a, i) => all.every((b, k) => i === k || !overlap(a, b)));
    const fits = all.every(r => r.left >= 0 && r.right <= innerWidth && r.width > 20 && r.height > 15);
    const ends = [...ring.querySelectorAll('.ring-box')].filter(e => e.scrollWidth > e.clientWidth);
    say(innerWidth, `${boxes.length} boxes, ${all.length - boxes.length} arrows: ` +
        (isClear && fits && !ends.length ? 'clear' : 'NOT clear'));
  }
}, 500);
