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
	"strconv"
	"sync"
	"time"
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

func number(i int) int {
	n, err := strconv.Atoi(os.Args[i])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
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
	for r := -1; r < repeats; r++ {
		total := make([]time.Duration, threads)
		var ready, done sync.WaitGroup
		ready.Add(threads)
		for t := 0; t < threads; t++ {
			done.Add(1)
			go func(t int) {
				defer done.Done()
				ready.Done()
				ready.Wait()
				begin := time.Now()
				loop(t, steps)
				total[t] = time.Since(begin)
			}(t)
		}
		done.Wait()
		if r < 0 {
			continue
		}
		var sum time.Duration
		for _, d := range total {
			sum += d
		}
		ns := float64(sum.Nanoseconds()) / float64(threads*steps)
		fmt.Printf("ns %.3f\n", ns)
	}
	// Go drops its heap profiler from programs that do not use it.
	records, _ := runtime.MemProfile(nil, true)
	fmt.Printf("records %d\n", records)
}
