// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the versions of Clang for which the plugin can be
// built, 16 to 22. Compat.h is not included: Attributes.cpp needs none of
// LLVM's headers for passes, which would take two fifths of the time to compile
// it.

#ifndef MPROF_PASS_CLANGCOMPAT_H
#define MPROF_PASS_CLANGCOMPAT_H

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/Config/llvm-config.h"
#include <algorithm>
#include <string>

#if LLVM_VERSION_MAJOR >= 17
#include "clang/Basic/ParsedAttrInfo.h"
#endif
#include "clang/Sema/ParsedAttr.h"

namespace mprof {
#if LLVM_VERSION_MAJOR >= 18
constexpr auto SyntaxC23 = clang::ParsedAttr::AS_C23;
inline bool hasImplicitThis(const clang::CXXMethodDecl *Method) {
  return Method->isImplicitObjectMemberFunction();
}
inline void annotateDeclaration(clang::FunctionDecl &, llvm::StringRef) {}
#else
constexpr auto SyntaxC23 = clang::ParsedAttr::AS_C2x;
inline bool hasImplicitThis(const clang::CXXMethodDecl *Method) {
  return Method->isInstance();
}
/// Makes \p Annotation reach the pass if \p F is only declared. Commas separate
/// the assumptions of a function, so those of the annotation become semicolons.
inline void annotateDeclaration(clang::FunctionDecl &F,
                                std::string Annotation) {
  std::replace(Annotation.begin(), Annotation.end(), ',', ';');
  F.addAttr(
      clang::AssumptionAttr::CreateImplicit(F.getASTContext(), Annotation));
}
#endif
} // namespace mprof

#endif // MPROF_PASS_CLANGCOMPAT_H
