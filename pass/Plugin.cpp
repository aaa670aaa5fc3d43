// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers MProf's passes and options. Attributes.cpp registers itself.
//
// clang loads this file for -fpass-plugin=, and needs -fplugin= besides: only
// that is loaded early enough for the attributes and for -mllvm -mprof-...
// opt has -load-pass-plugin= and -passes=mprof.

#include "MProfPass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<bool>
    Heap("mprof-heap", cl::init(true),
         cl::desc("MProf: count the heap's allocations (default: true)"));

static cl::opt<bool>
    Block("mprof-block", cl::init(true),
          cl::desc("MProf: see where threads wait (default: true)"));

static cl::opt<bool> Mutex(
    "mprof-mutex", cl::init(true),
    cl::desc("MProf: see which unlocks others waited for (default: true)"));

static cl::opt<bool> ThreadCreate(
    "mprof-threadcreate", cl::init(true),
    cl::desc("MProf: see where threads are created (default: true)"));

static cl::list<std::string> Ignorelists(
    "mprof-ignorelist", cl::value_desc("file"),
    cl::desc("MProf: special case list of functions (fun:) and sources (src:) "
             "whose allocations and waits are not counted; may be repeated"));

static cl::opt<mprof::Nested> NestedAllocators(
    "mprof-nested", cl::init(mprof::Nested::Written),
    cl::desc("MProf: what is counted of custom allocators that use others or "
             "malloc (default: written)"),
    cl::values(clEnumValN(mprof::Nested::Written, "written",
                          "not the calls written in an allocator"),
               clEnumValN(mprof::Nested::Outermost, "outermost",
                          "the blocks of the outermost allocator only"),
               clEnumValN(mprof::Nested::Each, "each",
                          "the blocks of each of them")));

static cl::opt<bool> AllocSize(
    "mprof-alloc-size", cl::init(false),
    cl::desc("MProf: functions with the attribute alloc_size are custom "
             "allocators (default: false)"));

static mprof::Options options() {
  return {{Heap, Block, Mutex, ThreadCreate},
          Ignorelists,
          NestedAllocators,
          AllocSize};
}

static void registerPasses(PassBuilder &PB) {
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(mprof::MarkPass(options()));
      });
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
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
