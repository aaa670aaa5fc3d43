// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the versions of LLVM for which the plugin can be
// built, 16 to 22. The other files use the names and the forms of LLVM 19.
// ClangCompat.h has the differences between the versions of Clang.

#ifndef MPROF_PASS_COMPAT_H
#define MPROF_PASS_COMPAT_H

#include "llvm/Config/llvm-config.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

#if LLVM_VERSION_MAJOR < 16 || LLVM_VERSION_MAJOR > 22
#error "MProf supports LLVM 16 to 22"
#endif

#include "llvm/Support/ModRef.h"

// The mask of attributes was a part of Attributes.h.
#if LLVM_VERSION_MAJOR >= 17
#include "llvm/IR/AttributeMask.h"
#endif

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

namespace mprof {

#if LLVM_VERSION_MAJOR >= 21
constexpr auto NoCapture = llvm::Attribute::Captures;
#else
constexpr auto NoCapture = llvm::Attribute::NoCapture;
#endif

// Later versions pass positions in blocks as iterators, not as instructions.
#if LLVM_VERSION_MAJOR >= 18
inline llvm::BasicBlock::iterator position(llvm::BasicBlock::iterator I) {
  return I;
}
#else
inline llvm::Instruction *position(llvm::BasicBlock::iterator I) { return &*I; }
#endif

/// Makes a position before an instruction include the debug records that
/// precede the instruction. Before LLVM 18, these were instructions.
inline void includeDebugRecords(llvm::BasicBlock::iterator &I) {
#if LLVM_VERSION_MAJOR >= 18
  I.setHeadBit(true);
#else
  (void)I;
#endif
}

inline void setNoSanitize(llvm::Instruction *I) {
#if LLVM_VERSION_MAJOR >= 17
  I->setNoSanitizeMetadata();
#else
  I->setMetadata(llvm::LLVMContext::MD_nosanitize,
                 llvm::MDNode::get(I->getContext(), {}));
#endif
}

/// Calls \p Add at the end of the optimizer's pipeline.
template <class Callback>
void atOptimizerEnd(llvm::PassBuilder &PB, Callback Add) {
  PB.registerOptimizerLastEPCallback([Add](llvm::ModulePassManager &MPM,
                                           llvm::OptimizationLevel
#if LLVM_VERSION_MAJOR >= 20
                                           ,
                                           llvm::ThinOrFullLTOPhase
#endif
                                     ) { Add(MPM); });
}

inline bool usesMemoryProfile(const llvm::PGOOptions &Options) {
#if LLVM_VERSION_MAJOR >= 17
  return !Options.MemoryProfile.empty();
#else
  (void)Options;
  return false;
#endif
}

/// Returns the instruction after \p I. Before LLVM 22, there may be
/// instructions in between that only describe variables to debuggers.
inline const llvm::Instruction *next(const llvm::Instruction *I) {
#if LLVM_VERSION_MAJOR >= 22
  return I->getNextNode();
#else
  return I->getNextNonDebugInstruction();
#endif
}

/// Returns whether \p V cannot be NULL at \p At.
inline bool isNeverNull(const llvm::Value *V, const llvm::Instruction *At) {
  const llvm::DataLayout &DL = At->getModule()->getDataLayout();
#if LLVM_VERSION_MAJOR >= 19
  return llvm::isKnownNonZero(V, llvm::SimplifyQuery(DL, At));
#else
  return llvm::isKnownNonZero(V, DL, 0, nullptr, At);
#endif
}

#if LLVM_VERSION_MAJOR >= 17
using MemoryLocation = llvm::IRMemLocation;
#else
using MemoryLocation = llvm::MemoryEffects::Location;
#endif

/// Whether Clang passes annotations of functions on that are only declared. If
/// not, Attributes.cpp also uses Clang's attribute `assume`, which becomes this
/// attribute of the function.
constexpr bool AnnotatesDeclarations = LLVM_VERSION_MAJOR >= 18;
constexpr llvm::StringLiteral AssumeAttr = "llvm.assume";

} // namespace mprof

#endif // MPROF_PASS_COMPAT_H
