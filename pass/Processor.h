// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the processors for which the pass inserts code. Each
// processor has a file Processor<Name>.cpp. The member functions of the base
// class are right for every processor that LLVM knows, so the file of a new
// processor overrides only what makes its code shorter. To add a processor, add
// its file, and add it to processorOf() in Processor.cpp.

#ifndef MPROF_PASS_PROCESSOR_H
#define MPROF_PASS_PROCESSOR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class InlineAsm;
class Module;
} // namespace llvm

namespace mprof {

class Runtime;

class Processor {
public:
  /// Inserts code that computes the address of the calling thread's sampling
  /// countdown. Only load() and store() understand the result.
  virtual llvm::Value *countdown(Runtime &RT, llvm::IRBuilderBase &B) const;

  /// Inserts a load of the countdown at \p Address.
  virtual llvm::Value *load(Runtime &RT, llvm::IRBuilderBase &B,
                            llvm::Value *Address) const;

  /// Inserts a store of \p V to the countdown at \p Address.
  virtual void store(Runtime &RT, llvm::IRBuilderBase &B, llvm::Value *Address,
                     llvm::Value *V) const;

  /// Inserts code that subtracts the constant \p Bytes from the countdown, and
  /// returns whether the runtime must be called. Returns null if the processor
  /// has no better code for a constant than for a variable.
  virtual llvm::Value *isDue(Runtime &RT, llvm::IRBuilderBase &B,
                             llvm::ConstantInt *Bytes) const;

  /// Returns whether a constant size that the code subtracts from the countdown
  /// should be in the register in which the call passes it.
  virtual bool keepsConstants() const { return false; }

  /// Returns an asm that calls the function \p Entry in a function that has no
  /// frame on the stack. \p Ty is the type of the asm: it returns a struct of
  /// the result of the call and the values of the registers of the arguments.
  /// The last parameter is a number, and the others are the arguments. Returns
  /// null if there is no such asm.
  virtual llvm::InlineAsm *callWithoutFrame(llvm::FunctionType *Ty,
                                            llvm::StringRef Entry) const;

  /// Inserts an asm that jumps to the address that the variable \p Word holds,
  /// with the instructions of a stub of the procedure linkage table, which
  /// change no argument of a call. Returns false if there is no such asm.
  virtual bool jumpThrough(Runtime &RT, llvm::IRBuilderBase &B,
                           llvm::GlobalVariable *Word) const;

  /// Returns an asm that returns the address of the code after it. \p Ty is its
  /// type, without parameters. Returns null if there is no such asm.
  virtual llvm::InlineAsm *codeAddress(llvm::FunctionType *Ty) const;

  /// Returns whether the call of an entry is moved to a function of its own if
  /// the call of the hooked function may become a jump (OutlinedCall.h).
  virtual bool outlinesCalls() const { return false; }

protected:
  ~Processor() = default;
};

/// Returns the processor for which \p M is compiled. Returns null if MProf does
/// not support the processor or the operating system.
const Processor *processorOf(const llvm::Module &M);

// The processors. Each file Processor<Name>.cpp defines one of them.
const Processor &processorX86();
const Processor &processorAArch64();

} // namespace mprof

#endif // MPROF_PASS_PROCESSOR_H
