// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which functions of mprof/hooks.def must be rewritten for the kinds of
// profiles that the options select.

#include "Options.h"

using namespace mprof;

/// Returns whether the mutex profile needs waits of kind \p K. The profile adds
/// the time of a wait for a lock to the unlock that ends the wait. A wait for a
/// condition variable is needed, too, because it unlocks a mutex for which
/// other threads may wait.
static bool concernsMutexes(WaitKind K) {
  switch (K) {
  case WaitKind::K_mutex:
  case WaitKind::K_rwlock:
  case WaitKind::K_spin:
  case WaitKind::K_cond:
  case WaitKind::K_user:
    return true;
  default:
    return false;
  }
}

bool ProfileKinds::need(const Hook &H) const {
  if (H.Rule == Rule::Wait)
    return Block || (Mutex && concernsMutexes(H.Kind));
  return need(H.Rule);
}

bool ProfileKinds::need(Rule R) const {
  switch (R) {
  case Rule::Release:
  case Rule::UserLock:
  case Rule::UserUnlock:
    return Block || Mutex;
  case Rule::Wait:
  case Rule::UserCall:
    return Block;
  case Rule::Create:
    return Threads;
  case Rule::Unload:
  case Rule::Leave:
  case Rule::Signal:
    return Heap || Block || Mutex || Threads;
  default:
    return Heap;
  }
}
