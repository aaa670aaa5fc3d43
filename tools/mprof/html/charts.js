// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of several snapshots of a process, in the order of time.

const SERIES_HUES = [250, 45, 150, 320, 85, 200, 20, 285];
const seriesColour = i => i < SERIES_HUES.length ?
    `oklch(${isDark() ? 0.62 : 0.72} 0.12 ${SERIES_HUES[i]})` :
    isDark() ? '#555b66' : '#c3c8d0';

class SeriesView {
  constructor(app, snapshots) {
    this.app = app;
    this.snapshots = snapshots;
    this.title = 'Over time';
    this.picture = new Picture({
      class: 'chart', tabindex: 0, role: 'img', 'aria-label': 'Values of the snapshots over time',
      onmousemove: e => this.move(e), onmouseleave: () => this.leave(),
      onclick: e => this.click(e), onkeydown: e => this.key(e)
    }, (context, width, height) => this.draw(context, width, height));
    this.legend = h('div', {class: 'chart-legend'});
    this.note = h('p', {class: 'note'});
    const unit = () => app.tree.unit;
    this.table = new RowTable({
      label: 'Growth', sort: 'growth', choose: row => app.choose(row.fn), columns: [
        {title: 'first', class: 'number', key: 'first', text: r => quantity(r.first, unit())},
        {title: 'peak', class: 'number', key: 'peak', text: r => quantity(r.peak, unit())},
        {title: 'last', class: 'number', key: 'last', text: r => quantity(r.last, unit())},
        {title: 'growth', class: 'number', key: 'growth', text: r => h('span', {
          class: r.growth > 0 ? 'grown' : r.growth < 0 ? 'shrunk' : ''
        }, change(r.growth, unit()))},
        {title: 'function', class: 'wide', text: r => briefName(app.model.name(app.selection.grain, r.fn))}
      ]
    });
    this.element = h('div', {class: 'view'}, this.picture.canvas, this.legend, this.note,
        this.table.element);
  }

  show(app) {
    const type = app.selection.profile.types[app.selection.type].name;
    const all = this.snapshots.filter(p => p.typeIndex(type) >= 0);
    // At exit, the destructors have freed blocks, so that file shows no growth.
    const running = all.filter(p => !p.isAtExit());
    const snapshots = running.length > 1 ? running : all;
    const atExit = all.filter(p => !snapshots.includes(p)).map(p => p.name);
    const count = app.model.functions[app.selection.grain].count;
    // The parts of a memory profile are the outermost frames.
    const isMemory = app.selection.profile.kind === 'memory';
    const shape = shapeOf(app.model, app.selection.grain, app.selection.std);
    this.flats = snapshots.map(profile => {
      const flat = new Float64Array(count), ends = shape.leaves[profile.index];
      const active = selectStacks(app.model, app.selection, profile), values = profile.values[profile.typeIndex(type)];
      for (let i = 0; i < ends.length; i++)
        if (ends[i] && (!active || active[i]))
          flat[shape.fn[isMemory ? shape.runs.outermost(ends[i]) : ends[i]]] += values[i];
      return flat;
    });
    this.shown = snapshots;
    const most = new Float64Array(count);
    for (const flat of this.flats)
      for (let f = 0; f < count; f++)
        most[f] = Math.max(most[f], Math.abs(flat[f]));
    const functions = [...most.keys()].filter(f => most[f] && (!app.matches || app.matches[f]));
    this.top = functions.slice().sort((a, b) => most[b] - most[a]).slice(0, SERIES_HUES.length);
    this.totals = this.flats.map(flat => functions.reduce((sum, f) => sum + flat[f], 0));
    fill(this.note, 'growth: of the straight line that is nearest to the values of all snapshots' +
        (atExit.length ? `; without ${atExit.join(', ')}: written at exit, when the destructors ` +
            'had freed their blocks' : ''));
    this.showTable(app, functions);
    fill(this.legend, this.top.map((f, i) => this.legendEntry(shortenName(app.model.name(app.selection.grain, f), 60), i)),
         functions.length > this.top.length && this.legendEntry('all others', SERIES_HUES.length));
    this.picture.redraw();
  }

  legendEntry(text, i) {
    const mark = h('span', {class: 'key'});
    mark.style.background = seriesColour(i);
    return h('span', {class: 'legend'}, mark, text);
  }

  showTable(app, all) {
    const first = this.flats[0], last = this.flats[this.flats.length - 1];
    const places = this.shown.map((_, i) => this.part(i));
    const rows = all.map(fn => {
      const values = this.flats.map(flat => flat[fn]);
      return {fn, first: first[fn], last: last[fn], peak: Math.max(...values), growth: this.growth(places, values)};
    });
    this.table.show(rows, key => (a, b) => b[key] - a[key] || a.fn - b.fn);
  }

  // The growth from the first to the last snapshot along the line with the least
  // squares of differences, because a single snapshot may be at a peak.
  growth(places, values) {
    const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
    const place = mean(places), value = mean(values);
    let above = 0, below = 0;
    places.forEach((p, i) => {
      above += (p - place) * (values[i] - value);
      below += (p - place) ** 2;
    });
    return below ? above / below : 0;
  }

  search(app) {
    this.show(app);
  }

  // The place of a snapshot between the first (0) and the last one (1): by its
  // time, or one after the other without times.
  part(i) {
    const times = this.shown.map(p => p.time);
    const span = times[times.length - 1] - times[0];
    const isTimed = times.every((t, k) => t > 0 && (k === 0 || t > times[k - 1]));
    return isTimed && span > 0 ? (times[i] - times[0]) / span :
        i / Math.max(1, this.shown.length - 1);
  }

  x(i) {
    return 80 + this.part(i) * (this.width - 100);
  }

  draw(context, width, height) {
    this.width = width;
    if (!this.flats || !this.flats.length)
      return;
    const {unit} = this.app.tree;
    const bottom = height - 28, most = Math.max(...this.totals, 1);
    const y = value => bottom - value / most * (bottom - 16);
    context.font = '12px ' + css('--font');
    context.textBaseline = 'middle';
    this.drawGrid(context, y, most, unit);
    let below = this.flats.map(() => 0);
    const layers = [...this.top.map((f, i) => [i, k => this.flats[k][f]]),
      [SERIES_HUES.length, k => this.totals[k] - this.top.reduce((s, f) => s + this.flats[k][f], 0)]];
    for (const [i, value] of layers) {
      const above = below.map((b, k) => b + Math.max(0, value(k)));
      context.beginPath();
      above.forEach((v, k) => context.lineTo(this.x(k), y(v)));
      for (let k = below.length - 1; k >= 0; k--)
        context.lineTo(this.x(k), y(below[k]));
      context.fillStyle = seriesColour(i);
      context.fill();
      below = above;
    }
    this.drawSnapshots(context, y, bottom);
  }

  drawGrid(context, y, most, unit) {
    context.fillStyle = css('--faint');
    context.textAlign = 'right';
    for (let part = 0; part <= 4; part++) {
      const value = most * part / 4;
      context.fillText(quantity(value, unit), 72, y(value));
      context.globalAlpha = 0.25;
      context.fillRect(80, Math.round(y(value)), this.width - 100, 1);
      context.globalAlpha = 1;
    }
    context.textAlign = 'left';
  }

  drawSnapshots(context, y, bottom) {
    const {profile} = this.app.selection;
    let free = 0;
    this.shown.forEach((p, k) => {
      const x = this.x(k), isShown = p === profile;
      context.fillStyle = css(isShown ? '--accent' : '--text');
      context.beginPath();
      context.arc(x, y(this.totals[k]), isShown ? 5 : 3, 0, 7);
      context.fill();
      if (isShown || k === this.hover) {
        context.globalAlpha = 0.5;
        context.fillRect(x, 10, 1, bottom - 10);
        context.globalAlpha = 1;
      }
      const text = p.time > 0 ? dateText(p.time).slice(11, 19) : String(k + 1);
      const size = context.measureText(text).width;
      const left = Math.min(x - size / 2, this.width - size - 2);
      if (left < free)
        return;
      context.fillText(text, left, bottom + 14);
      free = left + size + 12;
    });
  }

  near(event) {
    let best = 0;
    this.shown.forEach((_, k) => {
      if (Math.abs(this.x(k) - event.offsetX) < Math.abs(this.x(best) - event.offsetX))
        best = k;
    });
    return best;
  }

  move(event) {
    this.hover = this.near(event);
    const p = this.shown[this.hover], {unit} = this.app.tree;
    tip.show(event.clientX, event.clientY, [
      `${p.name}: ${quantity(this.totals[this.hover], unit)}`, dateText(p.time),
      ...this.top.filter(f => this.flats[this.hover][f]).map(f =>
        `${quantity(this.flats[this.hover][f], unit)}  ${briefName(this.app.model.name(this.app.selection.grain, f))}`),
      'Click chooses this snapshot'
    ].filter(Boolean));
    this.picture.redraw();
  }

  leave() {
    this.hover = -1;
    tip.hide();
    this.picture.redraw();
  }

  click(event) {
    this.app.selectProfile(this.shown[this.near(event)]);
  }

  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const next = this.shown[this.shown.indexOf(this.app.selection.profile) + step];
    if (!step || !next)
      return;
    this.app.selectProfile(next);
    event.preventDefault();
  }
}

// Draws values over time as an area, with a mark at the largest one.
function drawSpark(context, width, height, times, values, best, unit) {
  const n = values.length, span = times[n - 1] - times[0] || 1, most = values[best] || 1;
  const x = i => 2 + (times[i] - times[0]) / span * (width - 4);
  const y = v => height - 3 - Math.max(0, v) / most * (height - 24);
  context.beginPath();
  context.moveTo(x(0), height - 3);
  // The first, the largest and the last value of each pixel.
  for (let i = 0; i < n;) {
    let most = values[i], k = i;
    for (; k < n && x(k) < x(i) + 1; k++)
      most = Math.max(most, values[k]);
    for (const value of [values[i], most, values[Math.max(k - 1, i)]])
      context.lineTo(x(i), y(value));
    i = Math.max(k, i + 1);
  }
  context.lineTo(x(n - 1), y(values[n - 1]));
  context.lineTo(x(n - 1), height - 3);
  context.fillStyle = css('--part-colour');
  context.fill();
  context.fillStyle = css('--accent');
  context.beginPath();
  context.arc(x(best), y(values[best]), 4, 0, 7);
  context.fill();
  context.font = '12px ' + css('--font');
  context.textBaseline = 'middle';
  context.fillStyle = css('--text');
  const text = 'peak ' + quantity(values[best], unit), wide = context.measureText(text).width;
  context.fillText(text, Math.min(Math.max(2, x(best) - wide / 2), width - wide - 2), 8);
}

// The views of other things than one profile.
function moreViews(app) {
  const {model} = app, views = [];
  const snapshots = model.profiles.filter(p => p.role === 'snapshot');
  if (snapshots.length > 1)
    views.push(new SeriesView(app, snapshots));
  const shown = model.profiles.filter(p => p.role !== 'base');
  const [block, mutex, pairs] =
      ['block', 'mutex', 'locks'].map(kind => shown.find(p => p.kind === kind));
  if ((block && mutex) || pairs)
    views.push(new LocksView(app, block, mutex, pairs));
  const leaks = shown.filter(p => p.kind === 'threadleak');
  if (model.reports.length || leaks.length)
    views.push(new StuckView(app, model.reports, leaks));
  for (const data of model.traces) {
    const view = new TimelineView(app, data);
    if (model.traces.length > 1)
      view.title += ' ' + data.name;
    views.push(view);
  }
  return views;
}
