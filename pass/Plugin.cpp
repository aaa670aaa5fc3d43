// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers MProf's passes and options with LLVM. Attributes.cpp registers the
// attributes with Clang.
//
//     clang -fplugin=libMProf.so -fpass-plugin=libMProf.so
//     opt -load-pass-plugin=libMProf.so -passes=mprof
//
// -fpass-plugin= makes clang run the passes. clang also needs -fplugin=, which
// loads the plugin before clang parses the source and the options -mllvm
// -mprof-*. Without -fplugin=, clang knows neither the attributes nor these
// options.

#include "BlockTypes.h"
#include "Compat.h"
#include "MProfPass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<bool>
    Heap("mprof-heap", cl::init(true),
         cl::desc("MProf: count heap allocations (default: true)"));

static cl::opt<bool>
    Block("mprof-block", cl::init(true),
          cl::desc("MProf: record where threads wait (default: true)"));

static cl::opt<bool> Mutex("mprof-mutex", cl::init(true),
                           cl::desc("MProf: record the unlocks that ended "
                                    "waits of other threads (default: true)"));

static cl::opt<bool> ThreadCreate(
    "mprof-threadcreate", cl::init(true),
    cl::desc("MProf: record where threads are created (default: true)"));

static cl::list<std::string> Ignorelists(
    "mprof-ignorelist", cl::value_desc("file"),
    cl::desc(
        "MProf: file with a special case list; allocations and waits in "
        "the listed functions (fun:) and source files (src:) are not counted; "
        "this option may be repeated"));

static cl::opt<mprof::Nested> NestedAllocators(
    "mprof-nested", cl::init(mprof::Nested::Written),
    cl::desc("MProf: which blocks are counted when a custom allocator calls "
             "malloc or another custom allocator (default: written)"),
    cl::values(clEnumValN(mprof::Nested::Written, "written",
                          "all blocks except those that are allocated by calls "
                          "in the source code of the custom allocator itself"),
               clEnumValN(mprof::Nested::Outermost, "outermost",
                          "only blocks of the outermost allocator"),
               clEnumValN(mprof::Nested::Each, "each",
                          "blocks of every allocator")));

static cl::opt<bool> AllocSize(
    "mprof-alloc-size", cl::init(false),
    cl::desc("MProf: treat functions with the attribute alloc_size as custom "
             "allocators (default: false)"));

static cl::opt<mprof::Unwind> UnwindBy(
    "mprof-unwind", cl::init(mprof::Unwind::Default),
    cl::desc(
        "MProf: how the runtime follows stacks (default: tables; for musl: "
        "frames)"),
    cl::values(
        clEnumValN(mprof::Unwind::Frames, "frames",
                   "by frame pointers, which every function keeps"),
        clEnumValN(mprof::Unwind::Tables, "tables",
                   "by unwind tables; functions need no frame pointer")));

static cl::opt<bool> Coroutines(
    "mprof-coroutines", cl::init(false),
    cl::desc("MProf: let stacks continue into the coroutines that await a "
             "running coroutine (default: false)"));

static cl::opt<bool>
    Types("mprof-types", cl::init(true),
          cl::desc("MProf: put the types of heap blocks into the debug "
                   "information (default: true)"));

bool mprof::wantsBlockTypes() { return Heap && Types; }

static mprof::Options options() {
  mprof::Options Opts;
  Opts.Kinds.Heap = Heap;
  Opts.Kinds.Block = Block;
  Opts.Kinds.Mutex = Mutex;
  Opts.Kinds.Threads = ThreadCreate;
  Opts.Ignorelists = Ignorelists;
  Opts.Nested = NestedAllocators;
  Opts.AllocSize = AllocSize;
  Opts.Unwind = UnwindBy;
  Opts.Coroutines = Coroutines;
  return Opts;
}

// --- the inliner ---
//
// MProf's driver passes -fdebug-info-for-profiling for the sake of function
// names in the debug information. Clang then creates PGOOptions, although no
// profile is used or generated. In the presence of PGOOptions, LLVM's inliner
// defers calls: it leaves a call in a local function alone if the local
// function itself might then be inlined. The code of Lua's interpreter, for
// example, differs by 6 % of its instructions for this reason. The plugin
// cannot know whether the user has passed the flag, too. In that case it also
// turns deferral off.

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

/// Makes the inliner of the pipelines that \p PB will build decide as without
/// -fdebug-info-for-profiling, so that a program has the same code as without
/// MProf. Changes nothing for a program that is built with a profile, or if
/// the user has set -enable-npm-pgo-inline-deferral.
static void keepInlinerAsWithoutProfiling(PassBuilder &PB) {
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

// --- the plugin ---

static void registerPasses(PassBuilder &PB) {
  keepInlinerAsWithoutProfiling(PB);
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(mprof::MarkPass(options()));
      });
  mprof::atOptimizerEnd(PB, [](ModulePassManager &MPM) {
    MPM.addPass(mprof::MProfPass(options()));
  });
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "mprof")
          return false;
        MPM.addPass(mprof::MProfPass(options()));
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "MProf", "1", registerPasses};
}
