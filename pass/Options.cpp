// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which rules of hooks.def each kind of profile needs.

#include "Options.h"

using namespace mprof;

/// Returns whether the mutex profile needs waits of kind \p K. There are two
/// cases: the profile charges the release that ends such a wait, or the wait
/// itself releases a lock.
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
  case Rule::Owned:
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
    return Heap || Block || Mutex || Threads;
  default:
    return Heap;
  }
}
