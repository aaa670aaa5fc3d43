// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings the types of heap blocks from the source code to the debug
// information, where profiles find them. The cold call of an allocation is in
// the scope of a function that does not exist, as if it was inlined there. The
// name of this function is the mangled name of the type's name:
//
//     call ptr @__mprof_malloc(i64 32), !dbg !7
//     !7 = !DILocation(line: 9, scope: !8, inlinedAt: !10)
//     !8 = distinct !DISubprogram(name: "_ZTSN4shop5OrderE", ...)
//     !10 = !DILocation(line: 9, scope: !main)
//
// BlockTypeFinder.cpp finds the types. MarkPass moves the calls into such
// scopes, so that the optimizer keeps their types as it keeps their lines: if
// it merges two calls, the merged call has no type.

#ifndef MPROF_PASS_BLOCKTYPES_H
#define MPROF_PASS_BLOCKTYPES_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
class DILocation;
class Module;
} // namespace llvm

namespace mprof {

/// Returns whether the types of blocks are wanted.
bool wantsBlockTypes();

/// Forgets the types of an earlier source file.
void forgetBlockTypes();

/// Stores the type of a call's block. File has no directory. Function: the
/// mangled name of the function with the call, or "" in the initializer of a
/// global variable. Type: the mangled name of the type's name, or "" if the
/// type is unknown.
void addBlockType(llvm::StringRef File, unsigned Line, unsigned Column,
                  llvm::StringRef Function, llvm::StringRef Type);

/// Moves the calls in \p M whose types are known into scopes with these types.
void markBlockTypes(llvm::Module &M);

/// Moves \p Call out of the scope with its type. Returns the location in the
/// scope, or null if there is none.
llvm::DILocation *takeBlockType(llvm::CallBase &Call);

} // namespace mprof

#endif // MPROF_PASS_BLOCKTYPES_H
