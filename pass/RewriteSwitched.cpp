// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the switches: structs through which rewritten code calls the functions
// of the lists MPROF_RELEASE and MPROF_WAIT in mprof/hooks.def. The switch of a
// function f:
//
//     @__mprof_switch_f = linkonce_odr hidden externally_initialized global
//         { ptr, ptr, ptr, i32, i32 }          ; MPROF_SWITCH_FIELD
//         { ptr @f,                            ; target of sites and stubs
//           ptr @f, ptr @__mprof_f,            ; the two values of target
//           i32 2, i32 0 },                    ; kind, is_on
//         section "mprof_switches", comdat
//
// A site calls the stub of the switch, unless the call could become a jump or
// there is no stub (stub()):
//
//     define linkonce_odr hidden i32 @__mprof_stub_f(...) naked comdat {
//       call void asm "jmpq *$0", "*m"(ptr @__mprof_switch_f)
//       unreachable
//     }
//
// While the runtime records no waits of the kind, a site costs as much as a
// call of f, because the PLT has a stub with the same jump. A call through a
// register or through memory would save the jump. But on processors of Intel, a
// lock and unlock in a process with one thread would take 1.1 times as long,
// and on those of AMD, two calls through memory take 1.2 times as long.
//
// The linker puts all switches of an executable or library into one array,
// whose ends are the symbols __start_mprof_switches and __stop_mprof_switches.
// A constructor passes the array to the runtime, and in a library a destructor
// takes it back. Both run before or after all other code of the library:
//
//     @__mprof_switches_v<N> = linkonce_odr hidden global
//         { ptr, ptr, ptr, i64 }               ; MPROF_SWITCHES_FIELD
//         { ptr null, ptr @__start_mprof_switches,
//           ptr @__stop_mprof_switches, i64 1 }, comdat   ; 1: of a program
//     define linkonce_odr hidden void @__mprof_switches_begin_v<N>() comdat {
//       call void @__mprof_register_switches(ptr @__mprof_switches_v<N>)
//       ret void
//     }
//
// The runtime writes to a switch by its place in the array, which LLVM does not
// see at link time. Therefore a switch is externally_initialized, and is listed
// in llvm.compiler.used: otherwise LLVM would take a switch for a constant.

#include "RewriteSwitched.h"
#include "Compat.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include "mprof/hooks.def"

using namespace llvm;
using namespace mprof;

static constexpr StringLiteral Section = "mprof_switches";

/// Declares the symbol of the linker at the begin or the end of the array. The
/// symbol is weak, because the linker may drop all switches.
static Constant *endOfArray(Module &M, StringRef Prefix) {
  std::string Name = (Prefix + Section).str();
  if (GlobalValue *Known = M.getNamedValue(Name))
    return Known;
  auto *End =
      new GlobalVariable(M, Type::getInt8Ty(M.getContext()), false,
                         GlobalValue::ExternalWeakLinkage, nullptr, Name);
  End->setVisibility(GlobalValue::HiddenVisibility);
  return End;
}

/// Makes the constructor that passes the module's switches to the runtime, and
/// for a library also the destructor that takes them back.
void Switches::registerModule() {
  Module &M = RT.M;
  static constexpr StringLiteral Name = MPROF_VERSIONED("switches");
  if (M.getNamedValue(Name))
    return;
  Constant *Fields[NumArrayFields];
  Fields[A_next] = ConstantPointerNull::get(RT.PtrTy);
  Fields[A_begin] = endOfArray(M, "__start_");
  Fields[A_end] = endOfArray(M, "__stop_");
  Fields[A_is_program] = ConstantInt::get(RT.I64, RT.IsForLibrary ? 0 : 1);
  Constant *Init = ConstantStruct::getAnon(Fields);
  auto *Node = new GlobalVariable(M, Init->getType(), false,
                                  GlobalValue::LinkOnceODRLinkage, Init, Name);
  keepOne(*Node);
  auto Caller = [&](StringRef Name, StringRef Callee) {
    return RT.makeCaller(Name, GlobalValue::LinkOnceODRLinkage, Callee, Node);
  };
  // With priority 0, constructors run first and destructors run last.
  Function *Begin =
      Caller(MPROF_VERSIONED("switches_begin"), "register_switches");
  appendToGlobalCtors(M, Begin, 0, Begin);
  if (!RT.IsForLibrary)
    return;
  Function *End =
      Caller(MPROF_VERSIONED("switches_end"), "unregister_switches");
  appendToGlobalDtors(M, End, 0, End);
}

/// Returns the switch of the function that \p S calls. Makes the switch if the
/// module does not have it yet.
GlobalVariable *Switches::of(const Site &S) {
  std::string Name = (Prefix + "switch_" + S.H->Symbol).str();
  if (GlobalVariable *Known = RT.M.getNamedGlobal(Name))
    return Known;
  // The callee of the call may also be the function for which S.H->Symbol is
  // only an alias. Such a function may have local linkage, and then only the
  // alias is the same in all modules of the program.
  Constant *Hooked = RT.M.getNamedValue(S.H->Symbol);
  IntegerType *I32 = Type::getInt32Ty(RT.Ctx);
  // A release has no kind of its own.
  auto Kind = S.Rule == Rule::Release ? unsigned(WaitKind::K_none)
                                      : unsigned(S.H->Kind);
  Constant *Fields[NumFields];
  Fields[F_target] = Fields[F_function] = Hooked;
  Fields[F_entry] = RT.hookEntry(S);
  Fields[F_kind] = ConstantInt::get(I32, Kind);
  Fields[F_is_on] = ConstantInt::get(I32, 0);
  Constant *Init = ConstantStruct::getAnon(Fields);
  auto *Switch = new GlobalVariable(
      RT.M, Init->getType(), false, GlobalValue::LinkOnceODRLinkage, Init, Name,
      nullptr, GlobalValue::NotThreadLocal, std::nullopt,
      /*isExternallyInitialized=*/true);
  Switch->setSection(Section);
  Switch->setAlignment(Align(32));
  keepOne(*Switch);
  appendToCompilerUsed(RT.M, {Switch});
  registerModule();
  return Switch;
}

LoadInst *Switches::field(IRBuilderBase &B, const Site &S, Field F) {
  GlobalVariable *Switch = of(S);
  Type *Ty = Switch->getValueType();
  return B.CreateAlignedLoad(Ty->getStructElementType(F),
                             B.CreateConstInBoundsGEP2_32(Ty, Switch, 0, F),
                             F == F_target ? Align(8) : Align(4));
}

Value *Switches::target(IRBuilderBase &B, const Site &S) {
  return field(B, S, F_target);
}

/// Returns whether the code of \p S is compiled with protection against
/// speculation, such as -mretpoline, which an asm would not have.
static bool isHardened(const Site &S) {
  const Function *In = S.Call->getFunction();
  StringRef Features = In->getFnAttribute("target-features").getValueAsString();
  return In->hasFnAttribute(Attribute::SpeculativeLoadHardening) ||
         Features.contains("+retpoline") || Features.contains("+lvi") ||
         Features.contains("+harden-sls");
}

/// Code of the large model would need a register for the address of the switch.
Function *Switches::stub(const Site &S) {
  if (isHardened(S) ||
      RT.M.getCodeModel().value_or(CodeModel::Small) == CodeModel::Large)
    return nullptr;
  const std::string Name = (Prefix + "stub_" + S.H->Symbol).str();
  if (Function *Known = RT.M.getFunction(Name))
    return Known;
  auto *F = Function::createWithDefaultAttr(S.Call->getFunctionType(),
                                            GlobalValue::LinkOnceODRLinkage, 0,
                                            Name, &RT.M);
  IRBuilder<> B(BasicBlock::Create(RT.Ctx, "", F));
  if (!RT.CPU.jumpThrough(RT, B, of(S))) {
    F->eraseFromParent();
    return nullptr;
  }
  B.CreateUnreachable();
  keepOne(*F);
  for (Attribute::AttrKind Kind : {Attribute::Naked, Attribute::NoInline,
                                   Attribute::DisableSanitizerInstrumentation,
                                   Attribute::NoSanitizeCoverage})
    F->addFnAttr(Kind);
  return F;
}

Value *Switches::isOn(IRBuilderBase &B, const Site &S) {
  return B.CreateIsNotNull(field(B, S, F_is_on));
}

/// Returns whether the code after \p Call does nothing but return \p Call, or
/// nothing.
static bool returnsAtOnce(const CallInst &Call) {
  const BasicBlock *From = Call.getParent();
  const Instruction *I = mprof::next(&Call);
  auto Skip = [&] {
    while (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I) ||
           isa<PseudoProbeInst>(I) || I->isLifetimeStartOrEnd())
      I = I->getNextNode();
  };
  Skip();
  // CodeGenPrepare copies a block that only returns to the end of its
  // predecessor.
  if (auto *Branch = dyn_cast<BranchInst>(I);
      Branch && Branch->isUnconditional()) {
    I = &Branch->getSuccessor(0)->front();
    Skip();
  }
  auto *Return = dyn_cast<ReturnInst>(I);
  if (!Return)
    return false;
  const Value *Result = Return->getReturnValue();
  if (auto *Phi = dyn_cast_or_null<PHINode>(Result);
      Phi && Phi->getParent() == Return->getParent() &&
      Phi->getBasicBlockIndex(From) >= 0)
    Result = Phi->getIncomingValueForBlock(From);
  return !Result || Result == &Call || isa<UndefValue>(Result);
}

bool Switches::mayBecomeJump(const Site &S) {
  auto *Call = dyn_cast<CallInst>(S.Call);
  return Call && Call->isTailCall() && !Call->isMustTailCall() &&
         Call->getFunction()
                 ->getFnAttribute("disable-tail-calls")
                 .getValueAsString() != "true" &&
         returnsAtOnce(*Call);
}
