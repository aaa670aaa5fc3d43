// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64-bit Arm, little-endian. The test before an allocation takes six
// instructions in code for programs:
//     mrs  x8, TPIDR_EL0
//     add  x8, x8, :tprel_hi12:__mprof_heap_countdown
//     ldr  x9, [x8, :tprel_lo12_nc:__mprof_heap_countdown]
//     subs x9, x9, x0
//     str  x9, [x8, :tprel_lo12_nc:__mprof_heap_countdown]
//     b.ls cold
// LLVM itself would compute the whole address first, which takes one
// instruction more. In code for libraries, the test takes seven instructions:
//     adrp x8, :gottprel:__mprof_heap_countdown
//     ldr  x8, [x8, :gottprel_lo12:__mprof_heap_countdown]
//     mrs  x9, TPIDR_EL0
//     ldr  x10, [x9, x8]
//     subs x10, x10, x0
//     str  x10, [x9, x8]
//     b.ls cold
//
// The thread pointer comes from an asm with side effects. LLVM's own address of
// a thread-local variable may be computed long before the access, with calls in
// between. A program may switch stacks in such a call and continue in another
// thread, and code without thread-local variables of its own is right to do so.
// The site would then write to the memory of a thread that may have ended.
//
// The countdown is not changed by a single instruction, as on x86-64. A signal
// may arrive between ldr and str, and its handler may allocate blocks. Then str
// restores the value that the countdown had before the handler. This leaves all
// estimates unbiased. The distance to the next sample has the same distribution
// for the blocks of the handler and for the blocks that follow: both begin with
// the value c that ldr has read. So each block of s bytes is counted with the
// probability 1 - exp(-s / R), on both sides. If the handler has taken a sample
// at c, the code after it takes one more at c, and if not, the bytes of the
// handler do not bring its next sample nearer. Both effects cancel in the mean.
// Only the variance grows, because the two sides share one random number.
// In exact mode, the countdown is 0 before and after the handler.

#include "Processor.h"
#include "Runtime.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mprof;

namespace {
class ProcessorAArch64 final : public Processor {
public:
  Value *countdown(Runtime &RT, IRBuilderBase &B) const override;
  Value *load(Runtime &RT, IRBuilderBase &B, Value *Address) const override;
  void store(Runtime &RT, IRBuilderBase &B, Value *Address,
             Value *V) const override;
  bool jumpThrough(Runtime &RT, IRBuilderBase &B,
                   GlobalVariable *Word) const override;
  InlineAsm *codeAddress(FunctionType *Ty) const override;
  bool keepsConstants() const override { return true; }
  bool outlinesCalls() const override { return true; }
};
} // namespace

static CallInst *insertAsm(IRBuilderBase &B, Type *Result, StringRef Text,
                           StringRef Constraints, ArrayRef<Value *> Args,
                           bool HasSideEffects = true) {
  SmallVector<Type *, 2> Params;
  for (Value *Arg : Args)
    Params.push_back(Arg->getType());
  CallInst *Call =
      B.CreateCall(InlineAsm::get(FunctionType::get(Result, Params, false),
                                  Text, Constraints, HasSideEffects),
                   Args);
  Call->setDoesNotThrow();
  return Call;
}

/// In code for programs, returns the thread pointer plus the upper bits of the
/// variable's offset. In code for libraries, returns the address.
Value *ProcessorAArch64::countdown(Runtime &RT, IRBuilderBase &B) const {
  if (RT.WordsAreLocal)
    return insertAsm(B, RT.PtrTy,
                     "mrs $0, TPIDR_EL0\n\t"
                     "add $0, $0, :tprel_hi12:__mprof_heap_countdown",
                     "=r", {});
  Value *Offset =
      insertAsm(B, RT.I64,
                "adrp $0, :gottprel:__mprof_heap_countdown\n\t"
                "ldr $0, [$0, :gottprel_lo12:__mprof_heap_countdown]",
                "=r", {}, /*HasSideEffects=*/false);
  Value *Thread = insertAsm(B, RT.PtrTy, "mrs $0, TPIDR_EL0", "=r", {});
  return B.CreateGEP(B.getInt8Ty(), Thread, Offset);
}

Value *ProcessorAArch64::load(Runtime &RT, IRBuilderBase &B,
                              Value *Address) const {
  if (!RT.WordsAreLocal)
    return Processor::load(RT, B, Address);
  return insertAsm(B, RT.I64,
                   "ldr $0, [$1, :tprel_lo12_nc:__mprof_heap_countdown]",
                   "=r,r,~{memory}", {Address});
}

void ProcessorAArch64::store(Runtime &RT, IRBuilderBase &B, Value *Address,
                             Value *V) const {
  if (!RT.WordsAreLocal)
    return Processor::store(RT, B, Address, V);
  insertAsm(B, B.getVoidTy(),
            "str $1, [$0, :tprel_lo12_nc:__mprof_heap_countdown]",
            "r,r,~{memory}", {Address, V});
}

/// The runtime recognizes these registers (rt/thread_stacks/thread_unnoted.c).
/// LLVM would use others, and store the registers of variable arguments.
bool ProcessorAArch64::jumpThrough(Runtime &RT, IRBuilderBase &B,
                                   GlobalVariable *Word) const {
  auto *Ty = FunctionType::get(B.getVoidTy(), {RT.PtrTy}, false);
  B.CreateCall(
      InlineAsm::get(Ty, "adrp x16, $0\n\tldr x17, [x16, :lo12:$0]\n\tbr x17",
                     "S",
                     /*hasSideEffects=*/true),
      {Word});
  return true;
}

InlineAsm *ProcessorAArch64::codeAddress(FunctionType *Ty) const {
  return InlineAsm::get(Ty, "adr $0, 1f\n1:", "=r", /*hasSideEffects=*/true);
}

const Processor &mprof::processorAArch64() {
  static const ProcessorAArch64 P;
  return P;
}
