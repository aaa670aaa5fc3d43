// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps LLVM's inliner from deferring calls only because MProf needs
// -fdebug-info-for-profiling.

#ifndef MPROF_PASS_INLINEDEFERRAL_H
#define MPROF_PASS_INLINEDEFERRAL_H

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mprof {

/// Makes the inliner of the pipelines that \p PB will build decide as without
/// -fdebug-info-for-profiling, so that a program has the same code as without
/// MProf. Changes nothing for a program that is built with a profile, or if
/// the user has set -enable-npm-pgo-inline-deferral.
void keepInlinerAsWithoutProfiling(llvm::PassBuilder &PB);

} // namespace mprof

#endif // MPROF_PASS_INLINEDEFERRAL_H
