// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints the characters that strconv.IsPrint of this Go calls printable, as the
// lengths of runs: unprintable characters, printable characters, and so on. With
// the argument -c, prints the table in rt/thread/labels_text.c instead.
package main

import (
	"fmt"
	"os"
	"strconv"
	"unicode"
)

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
	fmt.Println()
}
