// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loops of trace_loop.c in Go, with Go's own execution tracer: region,
// read, and turns, by two channels.
//
// usage: trace KIND CALLS THREADS STEPS REPEATS [TRACE]
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var (
	zero  int
	turns = [2]chan struct{}{
		make(chan struct{}, 1), make(chan struct{}, 1)}
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

func loopRegion(thread, steps int) {
	ctx := context.Background()
	for i := 0; i < steps; i++ {
		trace.StartRegion(ctx, "region").End()
	}
}

func loopRead(thread, steps int) {
	var b [1]byte
	for i := 0; i < steps; i++ {
		if n, err := syscall.Read(zero, b[:]); n != 1 {
			fail(err)
		}
	}
}

func loopTurns(thread, steps int) {
	for i := 0; i < steps; i++ {
		<-turns[thread]
		turns[1-thread] <- struct{}{}
	}
}

//go:noinline
func below(loop func(thread, steps int), thread, steps, calls int) {
	if calls > 0 {
		below(loop, thread, steps, calls-1)
	} else {
		loop(thread, steps)
	}
}

func number(i int) int {
	if i >= len(os.Args) {
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[i])
	fail(err)
	return n
}

// One repeat: all threads' own time, and from the first begin to the last end.
func run(threads int, once func(thread int)) (sum, wall time.Duration) {
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
			once(t)
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

func main() {
	loops := map[string]func(thread, steps int){
		"region": loopRegion, "read": loopRead, "turns": loopTurns}
	calls, threads := number(2), number(3)
	steps, repeats := number(4), number(5)
	loop := loops[os.Args[1]]
	if loop == nil || threads < 1 || steps < 1 {
		os.Exit(2)
	}
	var err error
	zero, err = syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	fail(err)
	if len(os.Args) > 6 {
		f, err := os.Create(os.Args[6])
		fail(err)
		fail(trace.Start(f))
	}
	turns[0] <- struct{}{}
	for r := -1; r < repeats; r++ { // the first is not kept
		sum, wall := run(threads, func(thread int) {
			below(loop, thread, steps, calls)
		})
		if r >= 0 {
			all := float64(steps * threads)
			fmt.Printf("ns %.3f\nwall_ns %.3f\n",
				float64(sum.Nanoseconds())/all,
				float64(wall.Nanoseconds())/all)
		}
	}
	trace.Stop()
}
