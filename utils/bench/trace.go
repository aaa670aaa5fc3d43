// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loops of trace_loop.c in Go, with Go's own execution tracer: region,
// read, and turns, by two channels.
//
// usage: trace KIND CALLS THREADS STEPS REPEATS [TRACE]
package main

import (
	"context"
	"os"
	"runtime/trace"
	"syscall"
)

var (
	zero  int
	turns = [2]chan struct{}{
		make(chan struct{}, 1), make(chan struct{}, 1)}
)

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
			check(err)
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
	check(err)
	if len(os.Args) > 6 {
		f, err := os.Create(os.Args[6])
		check(err)
		check(trace.Start(f))
	}
	turns[0] <- struct{}{}
	bench(threads, steps, repeats, func(thread, steps int) {
		below(loop, thread, steps, calls)
	})
	trace.Stop()
}
