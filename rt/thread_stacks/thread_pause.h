// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets computing threads pause during a round (a collection of the stacks of
// all threads), if more threads compute than there are processors. A thread can
// answer the reader's signal only when it has a processor. Without pauses, the
// threads that have answered would go on computing, and each other thread would
// wait for its turn, many time slices later. A thread that has answered
// therefore leaves its processor to the others, and to the reader, until all
// have answered and the reader has read the stacks of the waiting threads. (Go
// stops all threads for the same reason: stopTheWorld)

#ifndef MPROF_RT_THREAD_STACKS_THREAD_PAUSE_H
#define MPROF_RT_THREAD_STACKS_THREAD_PAUSE_H

#include "sys/base.h"

// A pause ends after this time, even if some threads have not answered. They
// may not be able to answer soon, for example while they wait for a disk. Among
// many threads that compute, each one is kept from running for such a time
// anyway. Tests change this variable.
extern MPROF_HIDDEN unsigned mprof_pause_ms;

// The running threads that the reader has asked by a signal.
struct mprof_asked {
  unsigned threads;
  uint64_t processors[128]; // bit i: an asked thread may run on processor i
};

// Adds thread tid, which runs and was just asked by the reader. If the asked
// threads are now more than their processors, returns true, and threads that
// answer from now on pause. Later calls return false. Call this and
// mprof_pause_end in the reader, during the round.
bool mprof_pause_asked(struct mprof_asked *a, int tid);
// Ends all pauses, and lets no thread pause from now on.
void mprof_pause_end(void);
// Resets the pauses in a forked child.
void mprof_pause_reset(void);
// Pauses the calling thread, if threads that answer pause now. A thread that
// holds a lock of the runtime does not pause, because the reader may need the
// lock. Call in the handler of the reader's signal, after the answer.
void mprof_pause(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_PAUSE_H
