// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the benchmark programs in Go share: their arguments, and the timed loop of
// bench.h.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func number(i int) int {
	if i >= len(os.Args) {
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[i])
	check(err)
	return n
}

// One repeat: all threads' own time, and from the first begin to the last end.
func once(threads int, loop func(thread int)) (sum, wall time.Duration) {
	var ready, done sync.WaitGroup
	begin, end := make([]time.Time, threads), make([]time.Time, threads)
	ready.Add(threads)
	done.Add(threads)
	for t := 0; t < threads; t++ {
		go func(t int) {
			defer done.Done()
			ready.Done()
			ready.Wait()
			begin[t] = time.Now()
			loop(t)
			end[t] = time.Now()
		}(t)
	}
	done.Wait()
	first, last := begin[0], end[0]
	for t := range begin {
		sum += end[t].Sub(begin[t])
		if begin[t].Before(first) {
			first = begin[t]
		}
		if end[t].After(last) {
			last = end[t]
		}
	}
	return sum, last.Sub(first)
}

// Prints the nanoseconds of a step in each repeat. The first one is not kept.
func bench(threads, steps, repeats int, loop func(thread, steps int)) {
	all := float64(steps * threads)
	for r := -1; r < repeats; r++ {
		sum, wall := once(threads, func(thread int) { loop(thread, steps) })
		if r >= 0 {
			fmt.Printf("ns %.3f\nwall_ns %.3f\n",
				float64(sum.Nanoseconds())/all, float64(wall.Nanoseconds())/all)
		}
	}
}
