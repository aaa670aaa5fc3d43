// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86-64. The test before an allocation takes two instructions: subq
// %fs:countdown@TPOFF, then jbe. A constant size is subtracted by an asm, which
// leaves the comparison to the flags:
//     %f = call i8 asm "subq $2, $1", "={@ccbe},=*m,e,*m,..."(%a, i64 24, %a)
//     %ask = trunc i8 %f to i1

#include "Processor.h"
#include "Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mprof;

namespace {
class ProcessorX86 final : public Processor {
public:
  Value *isDue(Runtime &RT, IRBuilderBase &B,
               ConstantInt *Bytes) const override;
  InlineAsm *callWithoutFrame(FunctionType *Ty, StringRef Entry) const override;
  bool jumpThrough(Runtime &RT, IRBuilderBase &B,
                   GlobalVariable *Word) const override;
  InlineAsm *codeAddress(FunctionType *Ty) const override;
};
} // namespace

/// A constant that fits into the instruction is subtracted by an asm, whose
/// result is a flag of the processor. For a constant in a register (countDown),
/// the site would have one instruction more.
Value *ProcessorX86::isDue(Runtime &RT, IRBuilderBase &B,
                           ConstantInt *Bytes) const {
  if (!isInt<32>(Bytes->getSExtValue()) || !RT.WordsAreLocal)
    return nullptr;
  Value *Address = countdown(RT, B);
  auto *Ty =
      FunctionType::get(B.getInt8Ty(), {RT.PtrTy, RT.I64, RT.PtrTy}, false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(Ty, "subq $2, $1",
                     "={@ccbe},=*m,e,*m,~{dirflag},~{fpsr},~{flags}",
                     /*hasSideEffects=*/false),
      {Address, Bytes, Address});
  for (unsigned I : {0, 2})
    Call->addParamAttr(I,
                       Attribute::get(RT.Ctx, Attribute::ElementType, RT.I64));
  Call->setDoesNotThrow();
  return B.CreateTrunc(Call, B.getInt1Ty());
}

/// LLVM would load the address into a register if the function has some
/// parameters, which is one instruction more.
bool ProcessorX86::jumpThrough(Runtime &RT, IRBuilderBase &B,
                               GlobalVariable *Word) const {
  auto *Ty = FunctionType::get(B.getVoidTy(), {RT.PtrTy}, false);
  CallInst *Call = B.CreateCall(InlineAsm::get(Ty, "jmpq *$0",
                                               "*m,~{dirflag},~{fpsr},~{flags}",
                                               /*hasSideEffects=*/true),
                                {Word});
  Call->addParamAttr(0,
                     Attribute::get(RT.Ctx, Attribute::ElementType, RT.PtrTy));
  return true;
}

/// The registers of the arguments are outputs, too, because the entry changes
/// them. Other registers that a call may change are clobbered. The call and the
/// return of the entry also keep the shadow stack balanced, and the entry needs
/// no landing pad for a direct call.
InlineAsm *ProcessorX86::callWithoutFrame(FunctionType *Ty,
                                          StringRef Entry) const {
  static constexpr StringLiteral Registers[] = {"di", "si", "dx", "cx"};
  static constexpr StringLiteral Clobbers =
      ",~{r8},~{r9},~{r10},~{r11},~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},"
      "~{xmm5},~{xmm6},~{xmm7},~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},"
      "~{xmm13},~{xmm14},~{xmm15},~{memory},~{dirflag},~{fpsr},~{flags}";
  const unsigned N = Ty->getNumParams() - 1;
  assert(N <= std::size(Registers));
  std::string Outputs = "={ax}", Inputs, Unused;
  for (unsigned I = 0; I != std::size(Registers); ++I) {
    if (I < N) {
      Outputs += (",={" + Registers[I] + "}").str();
      Inputs += "," + std::to_string(I + 1);
    } else {
      Unused += (",~{r" + Registers[I] + "}").str();
    }
  }
  return InlineAsm::get(Ty, ("call " + Entry + "@PLT").str(),
                        Outputs + Inputs + ",i" + Unused + Clobbers.str(),
                        /*hasSideEffects=*/true);
}

InlineAsm *ProcessorX86::codeAddress(FunctionType *Ty) const {
  return InlineAsm::get(Ty, "leaq 1f(%rip), $0\n1:", "=r",
                        /*hasSideEffects=*/true);
}

const Processor &mprof::processorX86() {
  static const ProcessorX86 P;
  return P;
}
