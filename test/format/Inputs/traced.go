// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an execution trace of goroutines that wait for each other, make system
// calls, allocate, and have tasks and regions.

package main

import (
	"context"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

func main() {
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := trace.Start(out); err != nil {
		panic(err)
	}
	var lock sync.Mutex
	var group sync.WaitGroup
	turns := make(chan int)
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			ctx, task := trace.NewTask(context.Background(), "worker")
			defer task.End()
			for turn := range turns {
				trace.WithRegion(ctx, "turn", func() {
					lock.Lock()
					defer lock.Unlock()
					time.Sleep(time.Duration(turn%3) * time.Microsecond)
					os.Getwd()
					os.Stat(".")
				})
				_ = make([]byte, 1<<16)
			}
		}()
	}
	for i := 0; i < 1000; i++ {
		turns <- i
		if i%200 == 0 {
			runtime.GC()
		}
	}
	close(turns)
	group.Wait()
	trace.Stop()
	if err := out.Close(); err != nil {
		panic(err)
	}
}
