// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the table of hooked functions (the functions whose calls the pass
// rewrites) from mprof/hooks.def. Translates the letters of a prototype to LLVM
// types:
//
//     MPROF_HOOK(calloc, "pzz", ALLOC, 1, 0, -1)   ->   ptr (i64, i64)

#include "Hooks.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mprof;

/// The rules of MPROF_HOOK lines under the names that hooks.def uses.
static constexpr Rule ALLOC = Rule::Alloc, REALLOC = Rule::Realloc,
                      FREE = Rule::Free, DELETE = Rule::Delete, DUP = Rule::Dup,
                      CALL = Rule::Call;

/// Returns the table entry of a function that allocates or releases memory.
static constexpr Hook heapHook(StringLiteral Symbol, StringLiteral Proto,
                               Rule R, int Size, int Count, int Ptr) {
  Hook H(Symbol, Proto, R);
  H.Size = Size;
  H.Count = Count;
  H.Ptr = Ptr;
  return H;
}

/// Returns a copy of \p H with HasWord set: rewritten code calls the function
/// through the pointer __mprof_next_<Symbol>.
static constexpr Hook throughWord(Hook H) {
  H.HasWord = true;
  return H;
}

static constexpr Hook releaseHook(StringLiteral Symbol, StringLiteral Proto,
                                  int Object) {
  Hook H(Symbol, Proto, Rule::Release);
  H.Ptr = Object;
  return H;
}

static constexpr Hook mapHook(StringLiteral Symbol, StringLiteral Proto,
                              int Ptr) {
  Hook H(Symbol, Proto, Rule::Map);
  H.Ptr = Ptr;
  return H;
}

static constexpr Hook waitHook(StringLiteral Symbol, StringLiteral Proto,
                               WaitKind Kind) {
  Hook H(Symbol, Proto, Rule::Wait);
  H.Kind = Kind;
  return H;
}

ArrayRef<Hook> mprof::hooks() {
  static constexpr Hook Hooks[] = {
#define MPROF_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)                  \
  throughWord(heapHook(#Symbol, Proto, RuleName, Size, Count, Ptr)),
#define MPROF_JEMALLOC_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)         \
  heapHook(#Symbol, Proto, RuleName, Size, Count, Ptr),
#define MPROF_GC_HOOK(Symbol, Proto, RuleName, Size, Count, Ptr)               \
  heapHook(#Symbol, Proto, RuleName, Size, Count, Ptr),
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  releaseHook(#Symbol, Proto, Object),
#define MPROF_WAIT(Symbol, Proto, KindName)                                    \
  waitHook(#Symbol, Proto, WaitKind::K_##KindName),
#define MPROF_CREATE(Symbol, Proto) Hook(#Symbol, Proto, Rule::Create),
#define MPROF_UNLOAD(Symbol, Proto) Hook(#Symbol, Proto, Rule::Unload),
#define MPROF_LEAVE(Symbol, Proto) Hook(#Symbol, Proto, Rule::Leave),
#define MPROF_SIGNAL(Symbol, Proto) Hook(#Symbol, Proto, Rule::Signal),
#define MPROF_MAP(Symbol, Proto, Ptr) mapHook(#Symbol, Proto, Ptr),
#include "mprof/hooks.def"
  };
  return Hooks;
}

bool mprof::isHeap(Rule R) {
  switch (R) {
  case Rule::Alloc:
  case Rule::Realloc:
  case Rule::Free:
  case Rule::Delete:
  case Rule::Dup:
  case Rule::Call:
  case Rule::CustomAlloc:
  case Rule::CustomFree:
  case Rule::CustomRealloc:
    return true;
  default:
    return false;
  }
}

bool mprof::isForMusl(const Module &M) {
  return Triple(M.getTargetTriple()).isMusl();
}

static Type *typeOf(char Letter, LLVMContext &Ctx, bool IsMusl) {
  switch (Letter) {
  case 'v':
    return Type::getVoidTy(Ctx);
  case 'p':
    return PointerType::getUnqual(Ctx);
  case 'z':
    return Type::getInt64Ty(Ctx);
  case 't':
    return typeOf(IsMusl ? 'p' : 'z', Ctx, IsMusl);
  case 'i':
    return Type::getInt32Ty(Ctx);
  case 'b':
    return Type::getInt1Ty(Ctx);
  }
  llvm_unreachable(
      "a prototype in hooks.def contains a letter that stands for no type");
}

FunctionType *mprof::prototype(StringRef Proto, const Module &M) {
  LLVMContext &Ctx = M.getContext();
  const bool IsMusl = isForMusl(M);
  SmallVector<Type *, 4> Params;
  const bool IsVarArg = Proto.consume_back(".");
  for (char Letter : Proto.drop_front())
    Params.push_back(typeOf(Letter, Ctx, IsMusl));
  return FunctionType::get(typeOf(Proto.front(), Ctx, IsMusl), Params,
                           IsVarArg);
}
