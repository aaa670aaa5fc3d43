// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loops of pair.c in Go. What free is there, the garbage collector does
// here, in part on other processors.
//
// usage: pair ring|lifo THREADS PAIRS REPEATS MEMPROFILERATE
package main

import (
	"fmt"
	"os"
	"runtime"
)

const (
	ringLen  = 256
	sizesLen = 4096
)

var (
	sizes [sizesLen]int
	sinks [8]struct {
		p []byte
		_ [104]byte // a cache line each
	}
	rings [8][ringLen][]byte
)

func makeSizes() {
	x := uint32(2463534242)
	for i := range sizes {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		sizes[i] = int(16 + x%1009)
	}
}

func ring(thread, steps int) {
	live := &rings[thread]
	for i := 0; i < steps; i++ {
		live[i%ringLen] = make([]byte, sizes[i%sizesLen])
	}
}

func lifo(thread, steps int) {
	sink := &sinks[thread].p
	for i := 0; i < steps; i++ {
		*sink = make([]byte, 64)
	}
}

func main() {
	if len(os.Args) != 6 {
		os.Exit(2)
	}
	loop := lifo
	if os.Args[1] == "ring" {
		loop = ring
	}
	threads, steps, repeats := number(2), number(3), number(4)
	runtime.MemProfileRate = number(5)
	makeSizes()
	bench(threads, steps, repeats, loop)
	// Go drops its heap profiler from programs that do not use it.
	records, _ := runtime.MemProfile(nil, true)
	fmt.Printf("records %d\n", records)
}
