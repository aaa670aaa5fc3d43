// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the switches through which rewritten code calls lock functions and
// other functions that may wait.

#ifndef MPROF_PASS_REWRITESWITCHED_H
#define MPROF_PASS_REWRITESWITCHED_H

#include "Runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace mprof {

/// Makes the switches of a module. The switch of a hooked function is a struct.
/// It has the address of the function that sites call: the hooked function
/// itself, or the runtime's entry while the runtime records waits.
class Switches {
public:
  explicit Switches(Runtime &RT) : RT(RT) {}

  /// Returns whether sites with rule \p R call the hooked function through a
  /// switch.
  static bool cover(Rule R) { return R == Rule::Release || R == Rule::Wait; }

  /// Inserts a load of the address of the function that \p S calls.
  llvm::Value *target(llvm::IRBuilderBase &B, const Site &S);

  /// Returns the stub through which \p S calls this function: a function that
  /// only jumps to it. Returns null if the code of \p S can have no stub, and
  /// calls the function itself.
  llvm::Function *stub(const Site &S);

  /// Inserts the test whether \p S calls the runtime's entry now.
  llvm::Value *isOn(llvm::IRBuilderBase &B, const Site &S);

  /// Returns whether the compiler may make the call of \p S a jump, so that the
  /// caller would have no frame during the call.
  static bool mayBecomeJump(const Site &S);

private:
  /// The fields of struct __mprof_switch.
  enum Field {
#define MPROF_SWITCH_FIELD(Type, Name) F_##Name,
#include "mprof/hooks.def"
    NumFields
  };
  /// The fields of struct __mprof_switches.
  enum ArrayField {
#define MPROF_SWITCHES_FIELD(Type, Name) A_##Name,
#include "mprof/hooks.def"
    NumArrayFields
  };

  llvm::GlobalVariable *of(const Site &S);
  llvm::LoadInst *field(llvm::IRBuilderBase &B, const Site &S, Field F);
  void registerModule();

  Runtime &RT;
};

} // namespace mprof

#endif // MPROF_PASS_REWRITESWITCHED_H
