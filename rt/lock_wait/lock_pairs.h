// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the profile `locks`: who waited for a lock, and who held it
// meanwhile. The profile is on while the mutex profile is on. A row is a pair
// of stacks: that of the waiters, and that of the releases for which they
// waited.
//
// A charged release (waiters.h) adds each stack's part of the charge to a row.
// So the rows of a release add up to its value in the mutex profile. The time
// of a wait that no release was charged with, such as the end of a wait that
// timed out, is added to a row without a release. So the rows of a waiter add
// up to its value in the block profile.
//
// Where the holder had taken the lock is known if the acquisition was noted. A
// thread that has waited for the lock notes it, and after a charged release,
// threads note some acquisitions without a wait, too (mprof_note_taken).

#ifndef MPROF_RT_LOCK_WAIT_LOCK_PAIRS_H
#define MPROF_RT_LOCK_WAIT_LOCK_PAIRS_H

#include "sys/base.h"

// Maximum number of rows. The waits of further pairs are added to one more row,
// whose stacks are not known.
#define MPROF_PAIRS 4096u

// The stacks are handles of buckets (persistent.h); 0: not known.
struct mprof_pair {
  uint32_t next; // handle of the next row of the hash chain
  // A bucket of the block profile. Its kind is cond if the thread waited for
  // the mutex at the end of a wait for a condition.
  uint32_t waiter;
  uint32_t release; // a bucket of the mutex profile
  uint32_t taken;   // where the holder took the lock: a bucket of the block
                    // profile, which need not have waits
  // How often a waiter of this stack has waited for such a release, and the
  // ticks in total. Scaled by mutex_fraction.
  _Atomic uint64_t count, ticks;
  // Ticks that the holders held the lock, and the part of it in which waiters
  // of this stack waited. 0 if `taken` is 0. Scaled.
  _Atomic uint64_t held, held_waiting;
  _Atomic uint64_t worst; // longest time in ticks that one waiter has waited
  _Atomic uint32_t queue; // highest number of waiters for the lock
};

struct mprof_charge;
// Adds the charge of a release. release: its bucket. weight: the number of
// releases for which this one stands.
void mprof_pairs_add_release(const struct mprof_charge *c, uint32_t release,
                             uint64_t weight);
// Adds the ticks of a wait that no release is charged with.
void mprof_pairs_add_rest(uint32_t waiter, uint64_t ticks, uint64_t weight);

// Returns the number of rows.
size_t mprof_pairs_count(void);
// Calls f(row, arg) for each row.
void mprof_pairs_each(void (*f)(const struct mprof_pair *row, void *arg),
                      void *arg);
// Empties the table in a forked child.
void mprof_pairs_reset(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_PAIRS_H
