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
//
// Free and Delete test a mask. Realloc has the tests of Alloc and of Free.
//     %m = load i64, ptr @__mprof_free_mask
//     %ask = icmp eq i64 (and (ptrtoint %p), %m), 0
//
// Release tests whether the lock %l has waiters:
//     %w = load i32, ptr (@__mprof_waiters + 4 * (%l >> 6 & 1023))
//     %ask = icmp ne i32 %w, 0
//
// Wait tests whether waits of its kind are recorded:
//     %k = load i64, ptr @__mprof_sync_kinds
//     %ask = icmp ne i64 (and %k, 1 << Kind), 0
//
// Owned tests the owner's id %id, which it loads from the lock, and the number
// of waiters %w, which it loads as Release does:
//     %m = load i64, ptr @__mprof_owned_mask
//     %ask = icmp ne i64 (and (zext (or i32 %id, %w)), %m), 0

#include "FastPath.h"
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

/// Returns \p V as the result of an empty asm, so that the optimizer does not
/// know that the value is a constant. Otherwise LLVM would turn the subtraction
/// of a constant into an addition of its negative. A subtraction also sets the
/// processor flags that the comparison of countDown needs. An addition does
/// not, so LLVM would need a load, a comparison and a store in its place.
static Value *hidden(IRBuilderBase &B, Constant *V) {
  auto *Ty = FunctionType::get(V->getType(), V->getType(), false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(Ty, "", "=r,0", /*hasSideEffects=*/false), {V});
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  return Call;
}

/// The comparison is unsigned, so that it also holds for a size above 2^63.
/// Subtracting such a size wraps around and makes the countdown very large. If
/// the code did not call the runtime in this case, the thread would not take
/// another sample.
Countdown mprof::countDown(Runtime &RT, IRBuilderBase &B, Value *Bytes) {
  if (auto *Known = dyn_cast<Constant>(Bytes))
    Bytes = hidden(B, Known);
  Value *Address = B.CreateThreadLocalAddress(RT.word("heap_countdown"));
  Value *Before = B.CreateAlignedLoad(RT.I64, Address, Align(8));
  Value *Left = B.CreateSub(Before, Bytes);
  B.CreateAlignedStore(Left, Address, Align(8));
  return {Left, B.CreateICmpULE(Before, Bytes)};
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

/// Inserts a load of the element of __mprof_waiters for \p Object. If the
/// element is 0, no thread waits for the object. The load usually hits the
/// cache, because elements for objects without waiters are not written.
static Value *waitersOf(Runtime &RT, IRBuilderBase &B, Value *Object) {
  GlobalVariable *Table = RT.waiters();
  Type *I32 = B.getInt32Ty();
  Value *Slot = B.CreateAnd(B.CreateLShr(B.CreatePtrToInt(Object, RT.I64), 6),
                            B.getInt64(1023));
  return B.CreateAlignedLoad(I32, B.CreateInBoundsGEP(I32, Table, Slot),
                             Align(4));
}

Value *mprof::hasWaiters(Runtime &RT, IRBuilderBase &B, Value *Object) {
  return B.CreateIsNotNull(waitersOf(RT, B, Object));
}

/// Inserts the test whether the runtime must be called for \p Lock. This is the
/// case if \p Lock has an owner or waiters, and if the runtime has set the word
/// owned_mask because it records waits for mutexes or rwlocks. The test
/// combines the owner's id, the number of waiters and the mask into one number,
/// so that a single branch decides. A second branch would slow down short
/// loops. \p Lock is read as an array of ints, and \p Owner is the index of the
/// int with the owner's id. The test does not read the int that an unlock
/// writes last, because the processor would have to wait for that store.
static Value *isOwned(Runtime &RT, IRBuilderBase &B, Value *Lock, int Owner) {
  Type *I32 = B.getInt32Ty();
  Value *Id = B.CreateAlignedLoad(
      I32, B.CreateConstInBoundsGEP1_64(I32, Lock, Owner), Align(4));
  Value *Mask = B.CreateAlignedLoad(RT.I64, RT.word("owned_mask"), Align(8));
  Value *Both = B.CreateZExt(B.CreateOr(Id, waitersOf(RT, B, Lock)), RT.I64);
  return B.CreateIsNotNull(B.CreateAnd(Both, Mask));
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
    return countDown(RT, B, bytes(B, S)).Ask;
  case Rule::Realloc:
    return B.CreateOr(countDown(RT, B, bytes(B, S)).Ask,
                      hasNone(RT, B, Ptr, "free_mask"));
  case Rule::Free:
    return hasNone(RT, B, Ptr, "free_mask");
  case Rule::Delete:
    return hasNone(RT, B, Ptr, "delete_mask");
  case Rule::Owned:
    return isOwned(RT, B, Ptr, RT.IsMusl ? S.H->MuslOwner : S.H->Owner);
  case Rule::Release:
    return hasWaiters(RT, B, Ptr);
  case Rule::Wait:
    return wantsKind(RT, B, S.H->Kind);
  default:
    break;
  }
  llvm_unreachable("the switch in mustAsk has no case for this Rule");
}
