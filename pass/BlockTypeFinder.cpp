// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the types of heap blocks in the source code: of the expressions new T
// and new T[n], and of the calls of malloc and others whose result becomes a T
// * at once, or whose size is sizeof(T) or a multiple of it. If the pointer and
// the size have different types, the type is unknown, except that of a derived
// struct. Runs only with debug information, which is where the types go.

#include "BlockTypes.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace {

/// Returns the type of which \p Size is the size, or a multiple.
QualType measuredType(const Expr *Size) {
  Size = Size->IgnoreParenImpCasts();
  if (const auto *Of = dyn_cast<UnaryExprOrTypeTraitExpr>(Size))
    return Of->getKind() == UETT_SizeOf ? Of->getTypeOfArgument() : QualType();
  const auto *Product = dyn_cast<BinaryOperator>(Size);
  if (!Product || Product->getOpcode() != BO_Mul)
    return QualType();
  const QualType Left = measuredType(Product->getLHS()),
                 Right = measuredType(Product->getRHS());
  return Left.isNull() ? Right : Right.isNull() ? Left : QualType();
}

/// Returns whether \p F is a function of the C or C++ library that allocates.
/// std::allocator calls __builtin_operator_new, and has the type in its name.
bool allocates(const FunctionDecl &F) {
  if (F.isReplaceableGlobalAllocationFunction())
    return F.getOverloadedOperator() == OO_New ||
           F.getOverloadedOperator() == OO_Array_New;
  const IdentifierInfo *Name = F.getIdentifier();
  return Name && F.isExternC() &&
         llvm::is_contained({"malloc", "calloc", "realloc", "reallocarray",
                             "aligned_alloc", "memalign", "valloc", "pvalloc"},
                            Name->getName());
}

class Finder : public RecursiveASTVisitor<Finder> {
public:
  explicit Finder(ASTContext &Context)
      : Context(Context), Names(Context),
        Mangle(Context.createMangleContext()) {}

  // Types contain no calls. The parameters depend on the version of Clang.
  template <class... Args> bool TraverseTypeLoc(Args...) { return true; }
  template <class... Args> bool TraverseType(Args...) { return true; }

  bool TraverseDecl(Decl *D) {
    const auto *F = dyn_cast_or_null<FunctionDecl>(D);
    if (!F)
      return RecursiveASTVisitor::TraverseDecl(D);
    if (F->isDependentContext() || !F->doesThisDeclarationHaveABody())
      return true;
    return in(F, [&] { return RecursiveASTVisitor::TraverseDecl(D); });
  }

  bool TraverseLambdaExpr(LambdaExpr *E) {
    return in(E->getCallOperator(),
              [&] { return RecursiveASTVisitor::TraverseLambdaExpr(E); });
  }

  bool VisitCastExpr(CastExpr *E) {
    if (E->getCastKind() == CK_BitCast)
      if (const auto *Call =
              dyn_cast<CallExpr>(E->getSubExpr()->IgnoreParens()))
        Pointees[Call] = E->getType()->getPointeeType();
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !allocates(*Callee))
      return true;
    QualType Pointee = useful(Pointees.lookup(Call)), Measured;
    for (const Expr *Argument : Call->arguments()) {
      const QualType T = useful(measuredType(Argument));
      if (!T.isNull())
        Measured = T;
    }
    if (Measured.isNull())
      Measured = Pointee;
    else if (!Pointee.isNull() && Pointee != Measured &&
             !Pointee->isCharType() &&
             !(Pointee->isRecordType() && Measured->isRecordType()))
      Measured = QualType();
    add(*Call, Measured);
    return true;
  }

  bool VisitCXXNewExpr(CXXNewExpr *E) {
    const FunctionDecl *New = E->getOperatorNew();
    if (New && allocates(*New))
      add(*E, useful(E->getAllocatedType()));
    return true;
  }

private:
  ASTContext &Context;
  ASTNameGenerator Names;
  std::unique_ptr<MangleContext> Mangle;
  const FunctionDecl *Function = nullptr;
  llvm::DenseMap<const CallExpr *, QualType> Pointees;

  template <class Callback> bool in(const FunctionDecl *F, Callback Traverse) {
    const FunctionDecl *Outer = Function;
    Function = F;
    const bool Result = Traverse();
    Function = Outer;
    return Result;
  }

  /// Returns the canonical type of \p T, or null if it has no name that a
  /// profile could show.
  QualType useful(QualType T) const {
    if (T.isNull() || T->isDependentType() || T->isVariablyModifiedType() ||
        T->isVoidType() || T->isFunctionType())
      return QualType();
    T = Context.getBaseElementType(T).getCanonicalType().getUnqualifiedType();
    const TagDecl *Tag = T->getAsTagDecl();
    if (Tag && !Tag->getIdentifier() && !Tag->getTypedefNameForAnonDecl() &&
        !Context.getLangOpts().CPlusPlus)
      return QualType();
    return T;
  }

  /// Returns the mangled name of the name of \p T, or "" if T is null or has a
  /// part without a name.
  std::string nameOf(QualType T) {
    std::string Name;
    if (T.isNull())
      return Name;
    llvm::raw_string_ostream Out(Name);
    Mangle->mangleCXXRTTIName(T, Out);
    Out.flush();
    return Name.find("$_") == std::string::npos ? Name : std::string();
  }

  void add(const Expr &E, QualType T) {
    const SourceManager &Sources = Context.getSourceManager();
    const PresumedLoc Place =
        Sources.getPresumedLoc(Sources.getExpansionLoc(E.getExprLoc()));
    if (Place.isInvalid())
      return;
    const std::string Type = nameOf(T);
    const StringRef File = llvm::sys::path::filename(Place.getFilename());
    auto Add = [&](StringRef In) {
      mprof::addBlockType(File, Place.getLine(), Place.getColumn(), In, Type);
    };
    if (!Function)
      Add("");
    else if (isa<CXXConstructorDecl, CXXDestructorDecl>(Function))
      for (const std::string &Name : Names.getAllManglings(Function))
        Add(Name);
    else
      Add(Names.getName(Function));
  }
};

/// Looks at the declarations of the source and at the functions that Clang
/// makes from templates, but not at those that a precompiled header brings.
class Consumer : public ASTConsumer {
public:
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    Decls.append(Group.begin(), Group.end());
    return true;
  }
  void HandleTranslationUnit(ASTContext &Context) override {
    DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
    if (Diagnostics.hasErrorOccurred())
      return;
    mprof::forgetBlockTypes();
    // A function for which no code is made may have a name that Clang cannot
    // mangle.
    const bool AreSuppressed = Diagnostics.getSuppressAllDiagnostics();
    Diagnostics.setSuppressAllDiagnostics(true);
    Finder F(Context);
    for (Decl *D : Decls)
      F.TraverseDecl(D);
    Diagnostics.setSuppressAllDiagnostics(AreSuppressed);
  }

private:
  llvm::SmallVector<Decl *, 0> Decls;
};

class Action : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef) override {
    // Line tables are the least debug information that has scopes.
    enum { LineTables = 3 };
    const bool MakesCode =
        llvm::is_contained({frontend::EmitAssembly, frontend::EmitBC,
                            frontend::EmitLLVM, frontend::EmitObj},
                           Compiler.getFrontendOpts().ProgramAction);
    if (mprof::wantsBlockTypes() && MakesCode &&
        int(Compiler.getCodeGenOpts().getDebugInfo()) >= LineTables)
      return std::make_unique<Consumer>();
    return std::make_unique<ASTConsumer>();
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

//===----------------------------------------------------------------------===//
// Registration, see Attributes.cpp
//===----------------------------------------------------------------------===//

// The tool opt has none of Clang's symbols. Those in the tables of virtual
// functions are needed when the plugin is loaded, so they are weak.
#define MPROF_WEAK(Symbol) __asm__(".weak _Z" Symbol)
MPROF_WEAK("TIN5clang11ASTConsumerE");
MPROF_WEAK("TVN5clang11ASTConsumerE");
MPROF_WEAK("N5clang11ASTConsumer18HandleTopLevelDeclENS_12DeclGroupRefE");
MPROF_WEAK("N5clang11ASTConsumer21HandleInterestingDeclENS_12DeclGroupRefE");
MPROF_WEAK("N5clang11ASTConsumer24HandleImplicitImportDeclEPNS_10ImportDeclE");
MPROF_WEAK("N5clang11ASTConsumer33HandleTopLevelDeclInObjCContainerENS_"
           "12DeclGroupRefE");
MPROF_WEAK("TIN5clang15PluginASTActionE");
MPROF_WEAK("N5clang15PluginASTAction6anchorEv");
MPROF_WEAK("N5clang17ASTFrontendAction13ExecuteActionEv");
MPROF_WEAK("N5clang14FrontendActionD2Ev");
MPROF_WEAK("N5clang14FrontendAction13EndSourceFileEv");
MPROF_WEAK("N5clang14FrontendAction22shouldEraseOutputFilesEv");

using Registry = FrontendPluginRegistry;
extern "C" __attribute__((weak)) void addActionNode(Registry::node *) __asm__(
    "_ZN4llvm8RegistryIN5clang15PluginASTActionEE8add_nodeEPNS3_4nodeE");

const bool Registered = [] {
  if (!addActionNode)
    return false;
  static Registry::entry Entry("mprof-types", "",
                               []() -> std::unique_ptr<PluginASTAction> {
                                 return std::make_unique<Action>();
                               });
  static Registry::node Node(Entry);
  addActionNode(&Node);
  return true;
}();

} // namespace
