// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of the timeline. Where there are many threads, those of one name are
// a group, which is one row until it is opened.

const MANY_LANES = 24, MIN_GROUP = 4;

// The name without a number at its end: "worker-12" and "worker-7" are a group.
function groupName(lane) {
  return (lane.thread.name || 'thread').replace(/(.)[-_ #:/.]*\d+$/, '$1');
}

// Returns the group of each thread, or null for a thread of its own.
function groupsOf(lanes) {
  const groups = new Map();
  lanes.forEach((lane, i) => {
    const name = groupName(lane), group = groups.get(name) || {name, lanes: []};
    if (lane.count)
      group.lanes.push(i);
    groups.set(name, group);
  });
  const isMany = lanes.filter(lane => lane.count).length > MANY_LANES;
  return lanes.map(lane => {
    const group = groups.get(groupName(lane));
    return isMany && group.lanes.length >= MIN_GROUP ? group : null;
  });
}

// The rows from the top: tasks, groups, threads with their regions, labels and
// messages. open: the groups that are open; folded: the threads without regions.
// rowOf: the place of each thread, or of its group.
function timelineRows({lanes, spanRows}, groups, open, folded) {
  const spans = new Map(), rows = [], rowOf = new Array(lanes.length).fill(-1);
  for (const row of spanRows)
    spans.set(row.lane, [...spans.get(row.lane) || [], row]);
  rows.push(...spans.get(-1) || []);
  const add = (i, isInside) => {
    if (!lanes[i].count)
      return;
    rowOf[i] = rows.length;
    rows.push({lane: i, hasMore: spans.has(i), isInside});
    if (spans.has(i) && !folded.has(i))
      rows.push(...spans.get(i).map(row => ({...row, isInside})));
  };
  const seen = new Set();
  lanes.forEach((_, i) => {
    const group = groups[i];
    if (!group) {
      add(i, false);
    } else if (!seen.has(group)) {
      seen.add(group);
      const place = rows.length;
      rows.push({group, hasMore: true});
      if (open.has(group))
        group.lanes.forEach(lane => add(lane, true));
      else
        group.lanes.forEach(lane => rowOf[lane] = place);
    }
  });
  return {rows, rowOf};
}

// Channels of columnSums: those of Lane.order, and then the kinds of waits.
const WAIT_CHANNEL = 4, CHANNELS = WAIT_CHANNEL + WAITS.length;

// Returns for each of `count` columns of a span of time, and each channel, how
// many of the threads are in the state on average. The time does not depend on
// the length of the intervals.
function columnSums(trace, lanes, from, to, count) {
  const part = new Float64Array(CHANNELS * count), whole = new Float64Array(CHANNELS * (count + 1));
  const wide = (to - from) / count;
  const add = (channel, begin, end, weight) => {
    const x = Math.max(0, (begin - from) / wide), last = Math.min(count, (end - from) / wide);
    const i = Math.floor(x), k = Math.floor(last), at = channel * count;
    if (i === k || i >= count) {
      if (i < count)
        part[at + i] += (last - x) * weight;
      return;
    }
    part[at + i] += (i + 1 - x) * weight;
    if (k < count)
      part[at + k] += (last - k) * weight;
    // The columns in between are full.
    whole[channel * (count + 1) + i + 1] += weight;
    whole[channel * (count + 1) + k] -= weight;
  };
  for (const lane of lanes) {
    for (let i = Math.max(0, upperBound(lane.time, from, lane.count) - 1); i < lane.count && lane.time[i] < to; i++) {
      const begin = lane.time[i], end = lane.time[i + 1];
      const wait = WAIT_CHANNEL + trace.waits[lane.reason[i]];
      if (end <= from || end === begin)
        continue;
      const merged = lane.merged.get(i);
      if (merged)
        merged.sums.forEach((sum, k) => sum && add(k === 1 ? wait : k, begin, end, sum / (end - begin)));
      else if (lane.state[i] !== ABSENT)
        add(lane.state[i] === BLOCKED ? wait : Lane.place[lane.state[i]], begin, end, 1);
    }
  }
  for (let channel = 0; channel < CHANNELS; channel++)
    for (let i = 0, full = 0; i < count; i++) {
      full += whole[channel * (count + 1) + i];
      part[channel * count + i] += full;
    }
  return part;
}
