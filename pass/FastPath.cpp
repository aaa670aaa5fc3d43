// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts the inline test before a rewritten call, one kind of test for each
// rule of mprof/hooks.def. If the result %ask is true, the code calls the
// runtime.
//
// Alloc subtracts the size %n from the thread's sampling countdown. The files
// Processor*.cpp describe the instructions, and replace a part of this code on
// some processors.
//     %a = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_heap_countdown)
//     %c = load i64, ptr %a
//     %d = sub i64 %c, %n
//     store i64 %d, ptr %a
//     %ask = icmp ule i64 %c, %n
//
// Delete tests a mask. Free tests the constant MPROF_PLACED_BITS (hooks.def) in
// place of %m, unless freesOffPage() is false. Realloc has the test of Alloc
// and that of a mask.
//     %m = load i64, ptr @__mprof_free_mask
//     %ask = icmp eq i64 (and (ptrtoint %p), %m), 0
//
// The code around calls of functions with the attribute mprof_unlock tests
// whether the lock %l has waiters:
//     %w = load i32, ptr (@__mprof_waiters + 4 * slot of %l (hooks.def))
//     %ask = icmp ne i32 %w, 0
//
// The code around calls of functions with the attribute mprof_lock or
// mprof_blocking tests whether waits of its kind are recorded:
//     %k = load i64, ptr @__mprof_sync_kinds
//     %ask = icmp ne i64 (and %k, 1 << Kind), 0

#include "FastPath.h"
#include "Callee.h"
#include "IRUtil.h"
#include "RewriteSwitched.h"
#include "mprof/hooks.def"
#include "llvm/IR/Constants.h"
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
  Value *Address = RT.CPU.countdown(RT, B);
  Value *Before = RT.CPU.load(RT, B, Address);
  Value *Left = B.CreateSub(Before, Bytes);
  RT.CPU.store(RT, B, Address, Left);
  return {Left, B.CreateICmpULE(Before, Bytes)};
}

Value *mprof::isDue(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  if (auto *Known = dyn_cast<ConstantInt>(Bytes))
    if (Value *Ask = RT.CPU.isDue(RT, B, Known))
      return Ask;
  return countDown(RT, B, Bytes).Ask;
}

/// If the code subtracts a constant argument of the call by a register, the
/// call passes this register, so that the constant is loaded only once. The
/// optimizer at link time should know the constant, however.
Value *mprof::isSampleDue(Runtime &RT, IRBuilderBase &B, const Site &S) {
  Value *Bytes = bytes(B, S);
  if (RT.CPU.keepsConstants() && !RT.IsForLTO && isa<Constant>(Bytes) &&
      Bytes == S.Call->getArgOperand(S.Size)) {
    Bytes = inRegister(B, Bytes);
    S.Call->setArgOperand(S.Size, Bytes);
  }
  return isDue(RT, B, Bytes);
}

void mprof::countBack(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  Value *Address = RT.CPU.countdown(RT, B);
  Value *Left = RT.CPU.load(RT, B, Address);
  RT.CPU.store(RT, B, Address, B.CreateAdd(Left, Bytes));
}

Value *mprof::hasNone(Runtime &RT, IRBuilderBase &B, Value *Ptr,
                      StringRef Mask) {
  Value *Bits = B.CreateAlignedLoad(RT.I64, RT.word(Mask), Align(8));
  return B.CreateIsNull(B.CreateAnd(B.CreatePtrToInt(Ptr, RT.I64), Bits));
}

bool mprof::freesOffPage(const Runtime &RT, const Site &S) {
  return S.Rule == Rule::Free && !S.OnlyBypassesInterceptor &&
         !RT.IsForLibrary && callsByWord(S) && !S.Call->isMustTailCall() &&
         !Switches::mayBecomeJump(S);
}

/// A test of a constant is cheaper than one of the mask in memory. In loops
/// that allocate and free, it saves about 2 % of the time.
Value *mprof::mayBeCounted(Runtime &RT, IRBuilderBase &B, const Site &S) {
  Value *Ptr = S.Call->getArgOperand(S.Ptr);
  if (!freesOffPage(RT, S))
    return hasNone(RT, B, Ptr, "free_mask");
  return B.CreateIsNull(B.CreateAnd(B.CreatePtrToInt(Ptr, B.getInt32Ty()),
                                    B.getInt32(MPROF_PLACED_BITS)));
}

/// The load usually hits the cache, because elements for objects without
/// waiters are not written.
Value *mprof::hasWaiters(Runtime &RT, IRBuilderBase &B, Value *Object) {
  GlobalVariable *Table = RT.waiters();
  Type *I32 = B.getInt32Ty();
  Value *Slot = B.CreateAnd(
      B.CreateLShr(B.CreatePtrToInt(Object, RT.I64), MPROF_WAITER_SHIFT),
      B.getInt64(MPROF_WAITER_SLOTS - 1));
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
    return isSampleDue(RT, B, S);
  case Rule::Realloc:
    return B.CreateOr(isSampleDue(RT, B, S), mayBeCounted(RT, B, S));
  case Rule::Free:
    return mayBeCounted(RT, B, S);
  case Rule::Delete:
    return hasNone(RT, B, Ptr, "delete_mask");
  default:
    break;
  }
  llvm_unreachable("the switch in mustAsk has no case for this Rule");
}
