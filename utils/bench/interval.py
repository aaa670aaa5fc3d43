# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Confidence intervals of ratios, and the verdict on an interval and its bar."""

import collections
import math
import statistics

# middle: the estimate of the ratio. low and high: the ends of the interval, which
# contains the true ratio in 95 of 100 measurements.
Interval = collections.namedtuple("Interval", "low middle high")

# Student's t for 95 %, by degrees of freedom. For numbers in between, the next lower
# number is used, whose interval is a little wider.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306,
       9: 2.262, 10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131,
       16: 2.120, 17: 2.110, 18: 2.101, 19: 2.093, 20: 2.086, 22: 2.074, 25: 2.060,
       30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980}

MET, MISSED, UNDECIDED = "met", "missed", "undecided"


def t95(freedom):
    return T95[max(f for f in T95 if f <= freedom)]


def of_ratio(of, base):
    """Returns the Interval of the ratio of two variants. of and base: the values of each
    round. The values of a round are divided, because both were measured at nearly the
    same time."""
    return of_ratios([a / b for a, b in zip(of, base)])


def of_ratios(ratios):
    """Returns the Interval of a ratio. ratios: that of each round. The mean is that of the
    logarithms, so that the inverse ratios have the inverse mean. With one round, the
    interval has no limits."""
    logs = [math.log(r) for r in ratios]
    middle = statistics.fmean(logs)
    if len(logs) < 2:
        return Interval(0.0, math.exp(middle), math.inf)
    half = t95(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Interval(*(math.exp(x) for x in (middle - half, middle, middle + half)))


def verdict(interval, bar):
    """Returns whether a ratio is at most the bar: MET or MISSED if the whole interval is
    on one side of the bar, UNDECIDED if the interval contains the bar."""
    if interval.low <= bar <= interval.high:
        return UNDECIDED
    return MET if interval.high < bar else MISSED


def shown(interval):
    return "%.3f (%.3f to %.3f)" % (interval.middle, interval.low, interval.high)
