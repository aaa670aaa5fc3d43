// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints the characters that strconv.IsPrint of this Go calls printable, as the
// lengths of runs: unprintable characters, printable characters, and so on. With
// the argument -c, prints the source file rt/thread/printable.c instead:
//
//	go run utils/unicode/printable.go -c > rt/thread/printable.c
package main

import (
	"fmt"
	"os"
	"strconv"
	"unicode"
)

const head = `// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The printable characters of Unicode %s, as Go defines them: letters,
// marks, numbers, punctuation, symbols and the blank. Made by
// utils/unicode/printable.go. (Go: strconv.IsPrint)

#include "thread/printable.h"

// clang-format off
// Lengths of runs: unprintable characters, then printable characters, and so
// on. The last run is unprintable, and is left out. A length has 7 bits in each
// byte, the lowest bits first. Bit 7 means that another byte follows.
static const unsigned char runs[] = {
`

const tail = `};
// clang-format on

bool mprof_is_printable(unsigned c) {
  const unsigned char *p = runs, *end = runs + sizeof(runs);
  unsigned first = 0; // first character of the run
  for (bool is_printable = false; p < end; is_printable = !is_printable) {
    unsigned length = 0, shift = 0;
    do
      length |= (*p & 127u) << shift;
    while (shift += 7, *p++ & 128);
    if (c - first < length)
      return is_printable;
    first += length;
  }
  return false;
}
`

func runs() (lengths []int) {
	start, printable := 0, false
	for c := 0; c <= unicode.MaxRune; c++ {
		if strconv.IsPrint(rune(c)) != printable {
			lengths = append(lengths, c-start)
			start, printable = c, !printable
		}
	}
	return lengths
}

func main() {
	if len(os.Args) < 2 {
		fmt.Println("Unicode", unicode.Version)
		for _, n := range runs() {
			fmt.Println(n)
		}
		return
	}
	fmt.Printf(head, unicode.Version)
	column := 0
	put := func(b int) {
		text := fmt.Sprintf("%d,", b)
		if column+len(text) > 80 {
			fmt.Println()
			column = 0
		}
		fmt.Print(text)
		column += len(text)
	}
	for _, n := range runs() {
		for ; n >= 128; n >>= 7 {
			put(n&127 | 128)
		}
		put(n)
	}
	fmt.Print("\n" + tail)
}
