// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The statistical error of the values of sampled profiles.

#ifndef MPROF_TOOL_ESTIMATE_H
#define MPROF_TOOL_ESTIMATE_H

#include "model/profile.h"

// Says which option of mprof run replaces the estimates by exact values.
#define HEAP_RATE_OF_ALL "--heap-rate=1 counts every block"

// Returns the variance of the estimate that is value `type` of the sample, in
// the square of its unit. Returns 0 if the value is exact or its variance is
// not known.
double estimate_variance(const struct profile *p, const struct sample *s,
                         unsigned type, int64_t value);

// Returns the same for the samples of a time profile, which hit a function at
// random: the variance of their number is this number. Of a thread that does
// one thing only, it is less. Returns 0 for other profiles.
double estimate_time_variance(const struct profile *p, const struct sample *s,
                              unsigned type, int64_t value);

// Returns whether the values of this type have an error that the profile does
// not tell: the times of waits differ from run to run, and the profiles of
// other tools are sampled in other ways.
bool estimate_is_uncertain(const struct profile *p, unsigned type);

// Returns whether the values of this type are estimates.
bool estimate_is_sampled(const struct profile *p, unsigned type);

// Returns whether the profile samples blocks, and no block was sampled.
bool estimate_lacks_samples(const struct profile *p);

#endif
