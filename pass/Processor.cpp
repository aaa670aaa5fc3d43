// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the processor of a module, and inserts code that is right for every
// processor:
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_heap_countdown)
//     %c = load i64, ptr %a

#include "Processor.h"
#include "Runtime.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mprof;

Value *Processor::countdown(Runtime &RT, IRBuilderBase &B) const {
  return B.CreateThreadLocalAddress(RT.word("heap_countdown"));
}

Value *Processor::load(Runtime &RT, IRBuilderBase &B, Value *Address) const {
  return B.CreateAlignedLoad(RT.I64, Address, Align(8));
}

void Processor::store(Runtime &, IRBuilderBase &B, Value *Address,
                      Value *V) const {
  B.CreateAlignedStore(V, Address, Align(8));
}

Value *Processor::isDue(Runtime &, IRBuilderBase &, ConstantInt *) const {
  return nullptr;
}

InlineAsm *Processor::callWithoutFrame(FunctionType *, StringRef) const {
  return nullptr;
}

bool Processor::jumpThrough(Runtime &, IRBuilderBase &,
                            GlobalVariable *) const {
  return false;
}

InlineAsm *Processor::codeAddress(FunctionType *) const { return nullptr; }

const Processor *mprof::processorOf(const Module &M) {
  Triple T(M.getTargetTriple());
  if (T.str().empty()) // LLVM makes code for the processor on which it runs
    T = Triple(sys::getProcessTriple());
  if (!T.isOSLinux())
    return nullptr;
  switch (T.getArch()) {
  case Triple::x86_64:
    return T.isX32() ? nullptr : &processorX86();
  case Triple::aarch64: // little-endian
    return T.getEnvironment() == Triple::GNUILP32 ? nullptr
                                                  : &processorAArch64();
  default:
    return nullptr;
  }
}
