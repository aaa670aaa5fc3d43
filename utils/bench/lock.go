// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loops of lock.cpp in Go, with the locks of package sync and Go's own block
// and mutex profiles.
//
// usage: lock pair mutex|rdlock|wrlock PAIRS REPEATS BLOCKRATE MUTEXFRACTION
//
//	lock handoff mutex|rdlock THREADS MILLISECONDS REPEATS BLOCKRATE
//	  MUTEXFRACTION
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	inside  = 850 // lock.cpp has the same
	outside = 170
)

var (
	mutex   sync.Mutex
	rwlock  sync.RWMutex
	counter int
)

func work(x uint64, steps int) uint64 {
	for i := 0; i < steps; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// --- pair ---

func countMutex(steps int) {
	for i := 0; i < steps; i++ {
		mutex.Lock()
		counter++
		mutex.Unlock()
	}
}

func countRdlock(steps int) {
	for i := 0; i < steps; i++ {
		rwlock.RLock()
		counter++
		rwlock.RUnlock()
	}
}

func countWrlock(steps int) {
	for i := 0; i < steps; i++ {
		rwlock.Lock()
		counter++
		rwlock.Unlock()
	}
}

func pair() {
	loop := countMutex
	switch os.Args[2] {
	case "rdlock":
		loop = countRdlock
	case "wrlock":
		loop = countWrlock
	}
	steps, repeats := number(3), number(4)
	bench(1, steps, repeats, func(_, steps int) { loop(steps) })
}

// --- handoff ---

type player struct {
	index    int
	sections int
	own      uint64
	_        [104]byte // a cache line each
}

var (
	stop    atomic.Bool
	players [8]player
	guarded uint64
)

func (p *player) playMutex() {
	own := uint64(1)
	for !stop.Load() {
		mutex.Lock()
		guarded = work(guarded, inside)
		mutex.Unlock()
		p.sections++
		own = work(own, outside)
	}
	p.own = own
}

func (p *player) writeRwlock() {
	own := uint64(1)
	for !stop.Load() {
		rwlock.Lock()
		guarded = work(guarded, inside)
		rwlock.Unlock()
		p.sections++
		own = work(own, outside)
	}
	p.own = own
}

func (p *player) readRwlock() {
	own := uint64(1)
	for !stop.Load() {
		rwlock.RLock()
		own = work(own+guarded, inside)
		rwlock.RUnlock()
		p.sections++
		own = work(own, outside)
	}
	p.own = own
}

func (p *player) play(isRwlock bool) {
	switch {
	case !isRwlock:
		p.playMutex()
	case p.index == 0:
		p.writeRwlock()
	default:
		p.readRwlock()
	}
}

// One repeat: critical sections of each player, and how long it was.
func contest(isRwlock bool, threads int, length time.Duration) time.Duration {
	stop.Store(false)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	done.Add(threads)
	for i := 0; i < threads; i++ {
		players[i].index = i
		go func(p *player) {
			defer done.Done()
			ready.Done()
			ready.Wait()
			p.play(isRwlock)
		}(&players[i])
	}
	ready.Wait()
	begin := time.Now()
	time.Sleep(length)
	stop.Store(true)
	took := time.Since(begin)
	done.Wait()
	return took
}

func sectionsSoFar() int {
	sum := 0
	for i := range players {
		sum += players[i].sections
	}
	return sum
}

func handoff() {
	isRwlock := os.Args[2] == "rdlock"
	threads, repeats := number(3), number(5)
	length := time.Duration(number(4)) * time.Millisecond
	for r := -1; r < repeats; r++ {
		before := sectionsSoFar()
		took := contest(isRwlock, threads, length)
		if r >= 0 {
			perSecond := float64(sectionsSoFar()-before) / took.Seconds()
			fmt.Printf("per_second %.1f\n", perSecond)
		}
	}
}

// --- what was recorded ---

func printEvents(name string,
	profile func([]runtime.BlockProfileRecord) (int, bool)) {
	records := make([]runtime.BlockProfileRecord, 4096)
	n, ok := profile(records)
	if !ok {
		fmt.Fprintf(os.Stderr, "%s profile: %d records\n", name, n)
		os.Exit(1)
	}
	sum := int64(0)
	for _, r := range records[:n] {
		sum += r.Count
	}
	fmt.Printf("%s %d\n", name, sum)
}

func main() {
	if len(os.Args) < 6 {
		os.Exit(2)
	}
	runtime.SetBlockProfileRate(number(len(os.Args) - 2))
	runtime.SetMutexProfileFraction(number(len(os.Args) - 1))
	switch os.Args[1] {
	case "pair":
		pair()
	case "handoff":
		handoff()
	default:
		os.Exit(2)
	}
	printEvents("block", runtime.BlockProfile)
	printEvents("mutex", runtime.MutexProfile)
}
