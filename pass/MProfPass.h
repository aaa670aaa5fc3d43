// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two passes of MProf.

#ifndef MPROF_PASS_MPROFPASS_H
#define MPROF_PASS_MPROFPASS_H

#include "CallSites.h"
#include "llvm/IR/PassManager.h"
#include <string>
#include <vector>

namespace mprof {

/// Which blocks count where custom allocators use others and malloc.
enum class Nested {
  Written,   ///< Not what is written in an allocator; what its helpers have is.
  Outermost, ///< Only those of the allocator that the program called.
  Each       ///< All of them.
};

struct Options {
  Wanted Kinds = {true, true, true, true};
  std::vector<std::string> Ignorelists;
  mprof::Nested Nested = Nested::Written;
  bool AllocSize = false; ///< Functions with alloc_size are allocators.
};

/// Before the optimizer: marks, custom allocators, wrappers. Inlining would
/// take away the calls and functions that these are about.
class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// After the optimizer: the calls of hooked functions that are left, frame
/// pointers, main. Does the work of MarkPass first if that has not run.
class MProfPass : public llvm::PassInfoMixin<MProfPass> {
public:
  explicit MProfPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

} // namespace mprof

#endif // MPROF_PASS_MPROFPASS_H
