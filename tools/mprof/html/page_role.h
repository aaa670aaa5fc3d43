// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a profile is in a page.

#ifndef MPROF_TOOL_PAGE_ROLE_H
#define MPROF_TOOL_PAGE_ROLE_H

enum page_role {
  ROLE_SHOWN,
  ROLE_BASE,    // the profile that the others are compared with
  ROLE_SNAPSHOT // one of several profiles of a process, in the order of time
};

#endif
