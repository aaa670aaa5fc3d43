// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that ends with the call of an allocator, so that the call becomes
// a jump, may need no frame on the stack. The call of the runtime needs one,
// because profiles show the function. If the function has several such calls,
// LLVM makes one frame for all of them, before the tests of all sites. So each
// call is in a function of its own, to which the site jumps:
//
//     mprof.cold:
//       %q = tail call ptr @resize.cold(ptr %p, i64 %n)
//       ret ptr %q
//
//     define internal ptr @resize.cold(ptr %0, i64 %1) noinline {
//       %3 = notail call ptr @__mprof_realloc(ptr %0, i64 %1)
//       ret ptr %3
//     }
//
// In stacks, the frame of resize.cold takes the place of the frame of resize.
// Its debug information has the name and the lines of resize. The runtime shows
// the symbol without its suffix, as for code that a compiler has split. Unlike
// such code, resize.cold is in the section of resize: Go's pprof finds no lines
// of code that precedes the first sequence of a line table.

#include "OutlinedCall.h"
#include "IRUtil.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <cassert>

using namespace llvm;
using namespace mprof;

/// Gives \p F the attributes of \p From that say for which processor and in
/// which style its code is made, for example with signed return addresses.
static void copyStyle(Function &F, const Function &From) {
  for (Attribute A : From.getAttributes().getFnAttrs())
    if (A.isStringAttribute() && !A.getKindAsString().starts_with("mprof") &&
        A.getKindAsString() != "alloc-family")
      F.addFnAttr(A);
  for (Attribute::AttrKind Kind :
       {Attribute::UWTable, Attribute::ShadowCallStack, Attribute::NoUnwind})
    if (From.hasFnAttribute(Kind))
      F.addFnAttr(From.getFnAttribute(Kind));
  F.addFnAttr(Attribute::NoInline);
}

/// Returns the location for \p F that \p Loc, a location in \p From, describes.
static DebugLoc moveLocation(const DebugLoc &Loc, Function &F,
                             const Function &From) {
  DISubprogram *Of = From.getSubprogram();
  if (!Of || !Loc)
    return DebugLoc();
  LLVMContext &Ctx = F.getContext();
  auto *SP = cast<DISubprogram>(MDNode::replaceWithDistinct(Of->clone()));
  constexpr unsigned RetainedNodes = 7; // variables of the original
  assert(SP->getOperand(RetainedNodes) == SP->getRawRetainedNodes());
  SP->replaceOperandWith(RetainedNodes, nullptr);
  F.setSubprogram(SP);
  DenseMap<const MDNode *, MDNode *> Cache;
  return DebugLoc::replaceInlinedAtSubprogram(Loc, *SP, Ctx, Cache);
}

Function *
mprof::outlinedCall(Runtime &RT, const Site &S,
                    function_ref<FunctionCallee(IRBuilderBase &)> Entry,
                    function_ref<void(CallBase &, FunctionCallee)> Retarget) {
  Function &In = *S.Call->getFunction();
  auto *F = Function::createWithDefaultAttr(S.Call->getFunctionType(),
                                            GlobalValue::InternalLinkage, 0,
                                            In.getName() + ".cold", &RT.M);
  copyStyle(*F, In);
  // The linker may drop all members of a comdat, but inline a copy of In.
  if (!RT.IsForLTO)
    F->setComdat(In.getComdat());
  F->setSection(In.getSection());

  auto *Call = cast<CallInst>(S.Call->clone());
  for (Argument &A : F->args())
    Call->setArgOperand(A.getArgNo(), &A);
  BasicBlock *Body = BasicBlock::Create(RT.Ctx, "", F);
  Call->insertInto(Body, Body->end());
  Call->dropUnknownNonDebugMetadata();
  Call->setDebugLoc(moveLocation(S.Call->getDebugLoc(), *F, In));
  Builder B(Call);
  Retarget(*Call, Entry(B));
  ReturnInst::Create(RT.Ctx, Call->getType()->isVoidTy() ? nullptr : Call, Body)
      ->setDebugLoc(Call->getDebugLoc());
  return F;
}
