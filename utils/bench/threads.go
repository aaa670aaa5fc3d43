// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The program of threads.c in Go: goroutines that wait at a channel, each ten
// calls deep, and a watcher, with Go's own profile of them.
// Of its commands it has no open and close.
//
// usage: threads WAITING
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	depth      = 10
	worthALook = 100000 // threads.c has the same
)

var (
	started    atomic.Int64
	longestGap atomic.Int64 // nanoseconds
	never      = make(chan int)
	counter    int
)

//go:noinline
func callDeep(depth int) {
	if depth == 0 {
		<-never
	} else {
		callDeep(depth - 1)
	}
	counter++
}

func waitForever() {
	started.Add(1)
	callDeep(depth - 2)
}

// Gives the calling goroutine a thread of its own on the last processor, or on
// the first.
func pin(isLast bool) {
	const words = 16
	var all, own [words]uint64
	runtime.LockOSThread()
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0,
		words*8, uintptr(unsafe.Pointer(&all)))
	for i := 0; errno == 0 && i < words*64; i++ {
		if all[i/64]>>(i%64)&1 != 0 {
			own = [words]uint64{}
			own[i/64] = 1 << (i % 64)
			if !isLast {
				break
			}
		}
	}
	syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, words*8,
		uintptr(unsafe.Pointer(&own)))
}

var watched struct {
	schedstat *os.File
	before    time.Time
	waited    int64
}

// Nanoseconds for which the watcher has waited.
func waitedForProcessor() int64 {
	var text [128]byte
	n, _ := watched.schedstat.ReadAt(text[:], 0)
	words := strings.Fields(string(text[:n]))
	if len(words) < 2 {
		check(fmt.Errorf("schedstat: %q", text[:n]))
	}
	waited, err := strconv.ParseInt(words[1], 10, 64)
	check(err)
	return waited
}

func beginToWatch() {
	pin(true)
	f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat",
		syscall.Gettid()))
	check(err)
	watched.schedstat = f
	watched.waited = waitedForProcessor()
	watched.before = time.Now()
}

func watch() {
	now := time.Now()
	gap := int64(now.Sub(watched.before))
	watched.before = now
	if gap > worthALook {
		waited := waitedForProcessor()
		gap -= waited - watched.waited
		watched.waited = waited
		watched.before = time.Now()
	}
	if gap > longestGap.Load() {
		longestGap.Store(gap)
	}
}

func watchRunning() {
	for beginToWatch(); ; {
		watch()
	}
}

func take(count int) {
	records := make([]runtime.StackRecord, count)
	begin := time.Now()
	n, ok := runtime.GoroutineProfile(records)
	took := time.Since(begin)
	if !ok {
		check(fmt.Errorf("GoroutineProfile: %d records", n))
	}
	fmt.Printf("ms %.4f\nthreads %d\n", took.Seconds()*1e3, n)
}

func takeToFile() {
	var buf bytes.Buffer
	begin := time.Now()
	check(pprof.Lookup("goroutine").WriteTo(&buf, 0))
	check(os.WriteFile("threads-go.pb.gz", buf.Bytes(), 0o600))
	fmt.Printf("ms %.4f\n", time.Since(begin).Seconds()*1e3)
}

func main() {
	waiting := number(1)
	for i := 0; i < waiting; i++ {
		go waitForever()
	}
	for started.Load() < int64(waiting) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	runtime.GC() // none while it is measured
	go watchRunning()
	pin(false)
	fmt.Println("ok")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Fields(in.Text())
		longestGap.Store(0)
		switch words[0] {
		case "profile":
			take(waiting + 64)
		case "write":
			takeToFile()
		case "rest":
			ms, err := strconv.Atoi(words[1])
			check(err)
			time.Sleep(time.Duration(ms) * time.Millisecond)
		case "end":
			fmt.Println("ok")
			return
		}
		fmt.Printf("gap_us %.1f\nok\n", float64(longestGap.Load())/1e3)
	}
}
