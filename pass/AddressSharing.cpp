// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets neighbouring sites use the same address of the sampling countdown:
//
//     %a = <address>                    %a = <address>
//     ...                               ...
//     %p = call ptr %malloc(i64 %n)     %p = call ptr %malloc(i64 %n)
//     %b = <address>             becomes
//     %c = <load>(%b)                   %c = <load>(%a)
//
// The address is that of the calling thread. A program may switch stacks in a
// function that it calls, and then continue in another thread. So an address is
// used again only if all calls in between are calls of the malloc family, which
// do not switch stacks. The optimizer does not know this difference, so the
// addresses are asm statements that it leaves in their places.
//
// The analysis is a forward data flow: the state after a block is the address
// that each path to this place has computed last, or none.

#include "AddressSharing.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include <optional>

using namespace llvm;
using namespace mprof;

namespace {

/// The address that a place can use: null for none. A place that the analysis
/// has not reached has no state yet.
using State = std::optional<Value *>;

class Sharing {
public:
  Sharing(Function &F, Inserted &In) : F(F), In(In), Order(&F) {}
  void run();

private:
  bool keepsThread(const Instruction &I) const;
  Value *leave(BasicBlock &BB, Value *Address,
               DenseMap<Value *, Value *> *Replacements) const;
  bool update(BasicBlock &BB);

  Function &F;
  Inserted &In;
  ReversePostOrderTraversal<Function *> Order;
  DenseMap<const BasicBlock *, State> Before, After;
};

/// Returns whether the code after \p I surely runs in the thread in which the
/// code before \p I has run.
bool Sharing::keepsThread(const Instruction &I) const {
  auto *Call = dyn_cast<CallBase>(&I);
  return !Call || isa<IntrinsicInst>(Call) ||
         (Call->isInlineAsm() && I.hasMetadata(LLVMContext::MD_nosanitize)) ||
         In.HeapCalls.contains(Call);
}

/// Returns the state after \p BB if \p Address is the state before it. Notes
/// the addresses in \p BB that are the same as an earlier one.
Value *Sharing::leave(BasicBlock &BB, Value *Address,
                      DenseMap<Value *, Value *> *Replacements) const {
  for (Instruction &I : BB) {
    if (In.Addresses.contains(&I)) {
      if (!Address)
        Address = &I;
      else if (Replacements)
        (*Replacements)[&I] = Address;
    } else if (!keepsThread(I)) {
      Address = nullptr;
    }
  }
  return Address;
}

/// Computes the states before and after \p BB. A state only ever changes to
/// none, so that the analysis ends. Returns whether the state after \p BB has
/// changed.
bool Sharing::update(BasicBlock &BB) {
  State &New = Before[&BB];
  if (&BB == &F.getEntryBlock())
    New = nullptr;
  for (const BasicBlock *Pred : predecessors(&BB)) {
    const State Of = After.lookup(Pred);
    if (Of && New != Of)
      New = New ? nullptr : *Of;
  }
  if (!New)
    return false;
  const State Left = leave(BB, *New, nullptr);
  State &Known = After[&BB];
  if (Known == Left)
    return false;
  Known = Left;
  return true;
}

void Sharing::run() {
  bool Changed;
  do {
    Changed = false;
    for (BasicBlock *BB : Order)
      Changed |= update(*BB);
  } while (Changed);

  DenseMap<Value *, Value *> Replacements;
  for (BasicBlock *BB : Order)
    leave(*BB, Before[BB].value_or(nullptr), &Replacements);
  for (auto [Address, Earlier] : Replacements) {
    In.Addresses.erase(Address);
    Address->replaceAllUsesWith(Earlier);
    SmallVector<Instruction *, 4> Dead{cast<Instruction>(Address)};
    while (!Dead.empty()) {
      Instruction *I = Dead.pop_back_val();
      SmallVector<Value *, 4> Operands(I->operand_values());
      I->eraseFromParent();
      for (Value *Operand : Operands)
        if (auto *Of = dyn_cast<CallInst>(Operand);
            Of && Of->isInlineAsm() && Of->use_empty())
          Dead.push_back(Of);
    }
  }
}

} // namespace

void mprof::shareAddresses(Function &F, Inserted &In) {
  if (!F.isDeclaration() && !F.hasOptNone())
    Sharing(F, In).run();
}
