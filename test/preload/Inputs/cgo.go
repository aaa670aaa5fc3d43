// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls C, which allocates.

package main

/*
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) static void keep(int n) {
  kept = malloc(n);
}
*/
import "C"

func main() {
	for i := 0; i < 10; i++ {
		C.keep(10000)
	}
}
