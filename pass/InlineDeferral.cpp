// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MProf's driver passes -fdebug-info-for-profiling for the sake of function
// names in the debug information. Clang then creates PGOOptions, although no
// profile is used or generated. In the presence of PGOOptions, LLVM's inliner
// defers calls: it leaves a call in a local function alone if the local
// function itself might then be inlined. The code of Lua's interpreter, for
// example, differs by 6 % of its instructions for this reason. The plugin
// cannot know whether the user has passed the flag, too. In that case it also
// turns deferral off.

#include "InlineDeferral.h"
#include "Compat.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace {

// PassBuilder has no function that returns its PGOOptions. The explicit
// instantiation of a template may name a private member, and thereby defines
// the function pgoOptions below for this member.
template <auto Member> struct Access {
  friend const auto &pgoOptions(const PassBuilder &PB) { return PB.*Member; }
};

const auto &pgoOptions(const PassBuilder &PB);
template struct Access<&PassBuilder::PGOOpt>;

} // namespace

/// Returns whether clang would not have created PGOOptions without
/// -fdebug-info-for-profiling.
static bool isOnlyForDebugInfo(const PassBuilder &PB) {
  const auto &PGO = pgoOptions(PB);
  return PGO && PGO->DebugInfoForProfiling && !PGO->PseudoProbeForProfiling &&
         PGO->Action == PGOOptions::NoAction &&
         PGO->CSAction == PGOOptions::NoCSAction &&
         !mprof::usesMemoryProfile(*PGO);
}

void mprof::keepInlinerAsWithoutProfiling(PassBuilder &PB) {
  auto Found =
      cl::getRegisteredOptions().find("enable-npm-pgo-inline-deferral");
  if (Found == cl::getRegisteredOptions().end() ||
      Found->second->getNumOccurrences())
    return;
  // The option is a cl::opt<bool> of LLVM's PassBuilderPipelines.cpp. One
  // process may compile several files with different options.
  auto *Deferral = static_cast<cl::opt<bool> *>(Found->second);
  Deferral->setValue(
      isOnlyForDebugInfo(PB) ? false : Deferral->getDefault().getValue());
}
