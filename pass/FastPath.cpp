// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts the inline test before a rewritten call, one kind of test for each
// rule of mprof/hooks.def. If the result %ask is true, the code calls the
// runtime.
//
// Alloc subtracts the size %n from the thread's sampling countdown. On x86-64
// the test takes two instructions: subq %fs:countdown@TPOFF, then jbe. Code in
// a shared library first loads the offset.
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_heap_countdown)
//     %c = load i64, ptr %a
//     %d = sub i64 %c, %n
//     store i64 %d, ptr %a
//     %ask = icmp ule i64 %c, %n
// A constant size is subtracted by an asm, which leaves the comparison to the
// flags:
//     %f = call i8 asm "subq $2, $1", "={@ccbe},=*m,e,*m,..."(%a, i64 24, %a)
//     %ask = trunc i8 %f to i1
//
// Free and Delete test a mask. Realloc has the tests of Alloc and of Free.
//     %m = load i64, ptr @__mprof_free_mask
//     %ask = icmp eq i64 (and (ptrtoint %p), %m), 0
//
// The code around calls of functions with the attribute mprof_unlock tests
// whether the lock %l has waiters:
//     %w = load i32, ptr (@__mprof_waiters + 4 * (%l >> 6 & 1023))
//     %ask = icmp ne i32 %w, 0
//
// The code around calls of functions with the attribute mprof_lock or
// mprof_blocking tests whether waits of its kind are recorded:
//     %k = load i64, ptr @__mprof_sync_kinds
//     %ask = icmp ne i64 (and %k, 1 << Kind), 0

#include "FastPath.h"
#include "IRUtil.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mprof;

Value *mprof::bytes(IRBuilderBase &B, const Site &S) {
  Type *I64 = B.getInt64Ty();
  Value *Size = B.CreateZExt(S.Call->getArgOperand(S.Size), I64);
  if (S.Count < 0)
    return Size;
  return B.CreateMul(Size, B.CreateZExt(S.Call->getArgOperand(S.Count), I64));
}

/// LLVM would turn the subtraction of a constant into an addition of its
/// negative, so a constant comes from a register. A subtraction also sets the
/// processor flags that the comparison needs. An addition does not, so LLVM
/// would need a load, a comparison and a store in its place.
///
/// The comparison is unsigned, so that it also holds for a size above 2^63.
/// Subtracting such a size wraps around and makes the countdown very large. If
/// the code did not call the runtime in this case, the thread would not take
/// another sample.
Countdown mprof::countDown(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  if (isa<Constant>(Bytes))
    Bytes = inRegister(B, Bytes);
  Value *Address = B.CreateThreadLocalAddress(RT.word("heap_countdown"));
  Value *Before = B.CreateAlignedLoad(RT.I64, Address, Align(8));
  Value *Left = B.CreateSub(Before, Bytes);
  B.CreateAlignedStore(Left, Address, Align(8));
  return {Left, B.CreateICmpULE(Before, Bytes)};
}

/// A constant that fits into the instruction is subtracted by an asm, whose
/// result is a flag of the processor. For a constant in a register (countDown),
/// the site would have one instruction more.
Value *mprof::isDue(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  auto *Known = dyn_cast<ConstantInt>(Bytes);
  if (!Known || !isInt<32>(Known->getSExtValue()) || !RT.WordsAreLocal)
    return countDown(RT, B, Bytes).Ask;
  Value *Address = B.CreateThreadLocalAddress(RT.word("heap_countdown"));
  auto *Ty =
      FunctionType::get(B.getInt8Ty(), {RT.PtrTy, RT.I64, RT.PtrTy}, false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(Ty, "subq $2, $1",
                     "={@ccbe},=*m,e,*m,~{dirflag},~{fpsr},~{flags}",
                     /*hasSideEffects=*/false),
      {Address, Known, Address});
  for (unsigned I : {0, 2})
    Call->addParamAttr(I,
                       Attribute::get(RT.Ctx, Attribute::ElementType, RT.I64));
  Call->setDoesNotThrow();
  return B.CreateTrunc(Call, B.getInt1Ty());
}

void mprof::countBack(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  Value *Address = B.CreateThreadLocalAddress(RT.word("heap_countdown"));
  Value *Left = B.CreateAlignedLoad(RT.I64, Address, Align(8));
  B.CreateAlignedStore(B.CreateAdd(Left, Bytes), Address, Align(8));
}

Value *mprof::hasNone(Runtime &RT, IRBuilderBase &B, Value *Ptr,
                      StringRef Mask) {
  Value *Bits = B.CreateAlignedLoad(RT.I64, RT.word(Mask), Align(8));
  return B.CreateIsNull(B.CreateAnd(B.CreatePtrToInt(Ptr, RT.I64), Bits));
}

/// The load usually hits the cache, because elements for objects without
/// waiters are not written.
Value *mprof::hasWaiters(Runtime &RT, IRBuilderBase &B, Value *Object) {
  GlobalVariable *Table = RT.waiters();
  Type *I32 = B.getInt32Ty();
  Value *Slot = B.CreateAnd(B.CreateLShr(B.CreatePtrToInt(Object, RT.I64), 6),
                            B.getInt64(1023));
  return B.CreateIsNotNull(B.CreateAlignedLoad(
      I32, B.CreateInBoundsGEP(I32, Table, Slot), Align(4)));
}

Value *mprof::wantsKind(Runtime &RT, IRBuilderBase &B, WaitKind K) {
  Value *Kinds = B.CreateAlignedLoad(RT.I64, RT.word("sync_kinds"), Align(8));
  return B.CreateIsNotNull(
      B.CreateAnd(Kinds, B.getInt64(uint64_t(1) << unsigned(K))));
}

Value *mprof::mustAsk(Runtime &RT, IRBuilderBase &B, const Site &S) {
  Value *Ptr = S.Ptr < 0 ? nullptr : S.Call->getArgOperand(S.Ptr);
  switch (S.Rule) {
  case Rule::Alloc:
    return isDue(RT, B, bytes(B, S));
  case Rule::Realloc:
    return B.CreateOr(isDue(RT, B, bytes(B, S)),
                      hasNone(RT, B, Ptr, "free_mask"));
  case Rule::Free:
    return hasNone(RT, B, Ptr, "free_mask");
  case Rule::Delete:
    return hasNone(RT, B, Ptr, "delete_mask");
  default:
    break;
  }
  llvm_unreachable("the switch in mustAsk has no case for this Rule");
}
