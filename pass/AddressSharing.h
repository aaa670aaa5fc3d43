// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets neighbouring sites of a function use the same address of the sampling
// countdown, on processors where the address takes instructions of its own.

#ifndef MPROF_PASS_ADDRESSSHARING_H
#define MPROF_PASS_ADDRESSSHARING_H

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class CallBase;
class Function;
class Value;
} // namespace llvm

namespace mprof {

/// The values and calls that the rewriting of a module has inserted.
struct Inserted {
  /// The addresses of the countdown.
  llvm::DenseSet<llvm::Value *> Addresses;
  /// The calls of functions that allocate or free memory, and of their entries.
  llvm::DenseSet<const llvm::CallBase *> HeapCalls;
};

/// Replaces each address of the countdown in \p F by an earlier one, if only
/// calls of \p In are between them.
void shareAddresses(llvm::Function &F, Inserted &In);

} // namespace mprof

#endif // MPROF_PASS_ADDRESSSHARING_H
