# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small traces in the formats of go 1.5 to 1.21:
#   GOOD[name]                a valid trace
#   BAD[rule] or BAD[rule:x]  a trace whose first violation is of this rule
# READERS[name] says whether Go 1.19 and Go 1.26 accept the bad trace of this
# name. Both refuse a bad trace that is not in READERS.

from trace_writer import Trace, counted, header, leb, record, TYPES

GOOD, BAD, READERS = {}, {}, {}


def base(minor=11):
    """G 1 and G 2 run on P 0 and P 1; ticks up to 1021 are used."""
    t = Trace(minor)
    t.main = t.stack((0x401100, "main", "/a.c", 1))
    t.work = t.stack((0x401200, "work", "/a.c", 2))
    t.ev(0, 1000, "GoCreate", 1, t.main, t.main)
    t.ev(0, 1001, "ProcStart", 10)
    t.ev(0, 1002, "GoStart", 1, 1)
    t.ev(0, 1003, "Gomaxprocs", 2, t.main)
    t.ev(0, 1010, "GoCreate", 2, t.work, t.main)
    t.ev(1, 1020, "ProcStart", 11)
    t.ev(1, 1021, "GoStart", 2, 1)
    return t


def case(table, name, minor=11):
    def add(change):
        t = base(minor)
        result = change(t)
        table[name] = result if isinstance(result, bytes) else t.write()
        return change

    return add


def good(name, minor=11):
    return case(GOOD, name, minor)


def bad(name, go119=False, go126=False, minor=11):
    if go119 or go126:
        READERS[name] = go119, go126
    return case(BAD, name, minor)


def block(t, kind="GoBlockSync", tick=1030, p=1, stack=None):
    t.ev(p, tick, kind, stack or t.work)
    t.ev(p, tick + 1, "ProcStop")


def wake(t, g=2, seq=2, tick=1040, p=1):
    """By the thread itself: its P is idle, so G 0 unblocks it."""
    t.ev(p, tick, "GoUnblock", g, seq, t.main)
    start(t, g, seq + 1, tick + 1, p)


def start(t, g, seq, tick, p=1):
    t.ev(p, tick, "ProcStart", 10 + p)
    t.ev(p, tick + 1, "GoStart", g, seq)


def syscall(t, tick=1030, p=1, stack=None):
    t.ev(p, tick, "GoSysCall", stack or t.work)
    t.ev(p, tick + 1, "GoSysBlock")
    t.ev(p, tick + 2, "ProcStop")


# --- good ones


@good("left-running")
def _(t):
    pass


@good("self-unblock")
def _(t):
    block(t)
    wake(t)


@good("unblock-by-another")
def _(t):
    block(t, "GoBlockCond")
    t.ev(0, 1040, "GoUnblock", 2, 2, t.main)
    start(t, 2, 3, 1050)


@good("equal-ticks")
def _(t):
    t.ev(1, 1030, "GoBlockSync", t.work)
    t.ev(0, 1030, "GoUnblock", 2, 2, t.main)
    t.ev(1, 1030, "GoStart", 2, 3)


@good("system-calls")
def _(t):
    t.ev(1, 1025, "GoSysCall", t.work)
    syscall(t)
    t.ev(1, 1050, "ProcStart", 11)
    t.ev(1, 1051, "GoSysExit", 2, 2, 0)
    t.ev(1, 1052, "GoStart", 2, 3)


@good("system-call-with-real-ticks")
def _(t):
    syscall(t)
    t.ev(1, 1050, "GoSysExit", 2, 2, 1045)
    start(t, 2, 3, 1051)


@good("thread-exit-and-slot-reuse")
def _(t):
    t.ev(1, 1030, "GoEnd")
    t.ev(1, 1031, "ProcStop")
    t.ev(0, 1035, "GoCreate", 3, t.work, t.main)
    t.ev(1, 1040, "ProcStart", 12)
    t.ev(1, 1041, "GoStart", 3, 1)


@good("unknown-thread-declares-itself")
def _(t):
    t.ev(5, 1030, "GoCreate", 7, t.work, 0)
    t.ev(5, 1031, "ProcStart", 20)
    t.ev(5, 1032, "GoStart", 7, 1)


@good("local-forms")
def _(t):
    t.ev(1, 1030, "GoBlockSync", t.work)
    t.ev(1, 1031, "GoUnblockLocal", 2, t.main)
    t.ev(1, 1032, "GoStartLocal", 2)


@good("migration")
def _(t):
    t.ev(1, 1030, "GoPreempt", t.work)
    t.ev(0, 1032, "GoBlock", t.main)
    t.ev(0, 1040, "GoStart", 2, 2)
    t.ev(0, 1050, "GoEnd")


@good("without-stacks")
def _(t):
    t.ev(1, 1030, "GoBlockSync", 0)
    t.ev(1, 1031, "GoUnblock", 2, 2, 0)
    t.ev(1, 1032, "GoStart", 2, 3)


@good("left-open")
def _(t):
    """Regions and a task that nobody ends, an assist that ends twice, a G on
    two kernel threads."""
    t.ev(0, 1020, "UserRegion", 0, 0, t.string("whole"), t.main)
    t.ev(0, 1025, "UserTaskCreate", 7, 0, t.string("job"), t.main)
    t.ev(0, 1026, "UserTaskEnd", 8, t.main)
    t.ev(0, 1027, "UserRegion", 0, 0, t.string("part"), t.main)
    t.ev(0, 1028, "GCMarkAssistStart", t.main)
    t.ev(0, 1029, "GCMarkAssistDone")
    t.ev(0, 1030, "GCMarkAssistDone")
    t.ev(1, 1030, "UserRegion", 0, 0, t.string("rest"), t.work)
    t.ev(1, 1040, "GoEnd")
    t.ev(0, 1050, "GoCreate", 3, t.work, t.main)
    t.ev(1, 1060, "GoStart", 3, 1)
    t.ev(1, 1070, "GoPreempt", t.work)
    t.ev(2, 1080, "ProcStart", 12)
    t.ev(2, 1081, "GoStart", 3, 2)
    t.ev(2, 1100, "HeapAlloc", 1)


@good("waits")
def _(t):
    """Waits that end in every way, in a C++ program."""
    worker = "(anonymous namespace)::Pool<int, long>::worker"
    run = t.stack(
        (
            0x402000,
            "std::thread::thread<%s, int, void>(%s&&, int&&)" % (worker, worker),
            "/usr/include/c++/12/bits/std_thread.h",
            127,
        )
    )
    lock = t.stack(
        (0x403000, "pthread_mutex_lock", "", 0),
        (0x403100, "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100),
        (0x403200, "Pool::take(void (*)(int))", "/src/pool.cpp", 12),
        (0x401200, "work", "/a.c", 2),
    )
    unlock = t.stack(
        (0x404000, "pthread_mutex_unlock", "", 0),
        (0x404100, "Pool::operator()(int)", "/src/pool.cpp", 34),
    )
    # A name without parameters.
    calls = [t.stack((0x404200 + n, "operator()", "/src/pool.cpp", n)) for n in (36, 38)]
    join = t.stack((0x405000, "std::thread::join()", "", 0))
    post = t.stack((0x406000, "post", "/a.c", 0))

    def ms(time):
        return 1000 + int(time * 15625)

    # What MProf writes of a thread with a name.
    t.ev(1, ms(0.5), "UserLog", 0, t.string("thread.name"), 0, text="taker \"1\"")
    t.ev(0, ms(1), "GoCreate", 3, run, t.main)
    t.ev(2, ms(2), "ProcStart", 12)
    t.ev(2, ms(3), "GoStart", 3, 1)
    block(t, "GoBlockSync", ms(10), stack=lock)
    t.ev(2, ms(30), "GoUnblock", 2, 2, unlock)
    start(t, 2, 3, ms(31))
    block(t, "GoBlockSync", ms(40), stack=lock)
    t.ev(2, ms(45), "GoUnblock", 2, 4, unlock)
    start(t, 2, 5, ms(46))
    block(t, "GoBlockCond", ms(50), p=0, stack=join)
    t.ev(0, ms(60), "GoUnblock", 1, 2, post)
    start(t, 1, 3, ms(60.5), p=0)
    block(t, "GoBlockSync", ms(51), stack=lock)
    t.ev(2, ms(55), "GoUnblock", 2, 6, calls[0])
    start(t, 2, 7, ms(55.5))
    block(t, "GoBlockSync", ms(56), stack=lock)
    t.ev(2, ms(60), "GoUnblock", 2, 8, calls[1])
    start(t, 2, 9, ms(60.5))
    block(t, "GoSleep", ms(61), stack=t.work)
    t.ev(1, ms(2061), "GoUnblock", 2, 10, 0)
    start(t, 2, 11, ms(2061.5))
    block(t, "GoBlockNet", ms(2100), p=2, stack=lock)
    syscall(t, ms(2110), p=0, stack=join)
    t.ev(0, ms(2110.5), "ProcStart", 10)
    t.ev(0, ms(2110.5), "GoSysExit", 1, 4, 0)
    t.ev(0, ms(2111), "GoStart", 1, 5)
    t.ev(0, ms(2150), "HeapAlloc", 1)


@good("charges")
def _(t):
    """Waits for a lock with charges of its releases, as MProf writes them."""
    lock = t.stack((0x403000, "lock", "/a.c", 5))
    slow = t.stack((0x404000, "slow", "/a.c", 10))
    quick = t.stack((0x405000, "quick", "/a.c", 20))
    key = t.string("lock.waited_ns")

    def ms(time):
        return 1000 + int(time * 15625)

    def charge(time, stack, text):
        t.ev(2, ms(time), "UserLog", 0, key, stack, text=text)

    t.ev(0, ms(1), "GoCreate", 3, t.work, t.main)
    t.ev(2, ms(2), "ProcStart", 12)
    t.ev(2, ms(3), "GoStart", 3, 1)
    block(t, "GoBlockSync", ms(10), stack=lock)
    charge(40, slow, "30000000")
    t.ev(2, ms(40), "GoUnblock", 2, 2, slow)
    start(t, 2, 3, ms(41))
    # The first release wakes nobody. The charge of the second release comes
    # after the end of the wait.
    block(t, "GoBlockSync", ms(50), stack=lock)
    charge(70, slow, "20000000")
    t.ev(2, ms(70.5), "GoUnblock", 2, 4, quick)
    charge(70.5, quick, "500000")
    start(t, 2, 5, ms(71))
    # A wait for a semaphore, and messages that are not charges.
    block(t, "GoBlockSync", ms(80), stack=lock)
    charge(85, quick, "much")
    charge(85, quick, "18446744073709551616")
    t.ev(2, ms(85), "GoUnblock", 2, 6, quick)
    start(t, 2, 7, ms(86))


@good("stops-by-two-Ps", minor=9)
def _(t):
    t.ev(0, 1030, "STWStart")
    t.ev(1, 1031, "STWStart")
    t.ev(0, 1040, "STWDone")
    t.ev(1, 1041, "STWDone")


def everything(minor):
    """What a tracer of C programs writes, in one trace."""
    t = Trace(minor)
    main = t.stack((0x401100, "main", "/a.c", 40))
    spawn = t.stack((0x401150, "spawn", "/a.c", 33), (0x401100, "main", "/a.c", 40))
    work = t.stack((0x401300, "work", "/a.c", 19))
    lock = t.stack(
        (0x401350 | 2 << 56, "enter", "/c.h", 7),
        (0x401350 | 1 << 56, "step", "/a.c", 15),
        (0x401350, "work", "/a.c", 22),
    )
    v5 = minor < 7

    def seq(*args):
        return args[:1] + args[2:] if v5 else args

    t.ev(0, 1000, "GoCreate", 1, 0x401100 if v5 else main, main)
    t.ev(0, 1001, "GoCreate", 9, 0x401300 if v5 else work, main)
    t.ev(0, 1002, "GoWaiting", 9)
    t.ev(0, 1003, "GoCreate", 8, 0x401300 if v5 else work, main)
    t.ev(0, 1004, "GoInSyscall", 8)
    t.ev(0, 1005, "ProcStart", 4242)
    t.ev(0, 1006, "GoStart", *seq(1, 1))
    t.ev(0, 1007, "Gomaxprocs", 4, main)
    t.ev(0, 1100, "GoCreate", 2, 0x401300 if v5 else work, spawn)
    t.ev(0, 1110, "GoCreate", 3, 0x401300 if v5 else work, spawn)
    t.ev(1, 1200, "ProcStart", 4243)
    t.ev(1, 1201, "GoStart", *seq(2, 1))
    t.ev(2, 1210, "ProcStart", 4244)
    t.ev(2, 1211, "GoStart", *seq(3, 1))
    t.ev(2, 2000, "GoBlockSync", lock)
    t.ev(2, 2001, "ProcStop")
    t.ev(0, 2500, "GoBlockCond", main)
    t.ev(0, 2501, "ProcStop")
    t.ev(1, 3500, "GoUnblock", *seq(3, 2, spawn))
    t.ev(2, 3600, "ProcStart", 4244)
    t.ev(2, 3601, "GoStart", *seq(3, 3))
    t.ev(1, 4000, "GoSysCall", lock)
    t.ev(1, 4001, "GoSysBlock")
    t.ev(1, 4002, "ProcStop")
    if minor >= 11:
        name, key = t.string("render"), t.string("cat")
        frame = t.string("frame")
        t.ev(2, 4100, "UserTaskCreate", 7, 0, frame, work)
        t.ev(2, 4110, "UserRegion", 7, 0, name, work)
        t.ev(2, 4120, "UserRegion", 7, 0, frame, work)
        t.ev(2, 4130, "UserLog", 7, key, work, text='said "hello"\n')
        t.ev(2, 4140, "UserRegion", 7, 1, frame, work)
        t.ev(2, 4150, "UserRegion", 7, 1, name, work)
        t.ev(2, 4160, "UserTaskEnd", 7, work)
    t.ev(2, 4200, "HeapAlloc", 123456)
    t.ev(2, 4201, "HeapGoal", 4194304)
    t.ev(2, 4300, "GCStart", *([work] if v5 else [0, work]))
    t.ev(2, 4301, "STWStart", *([1] if minor >= 10 else []))
    t.ev(2, 4310, "STWDone")
    t.ev(2, 4320, "GCSweepStart", work)
    t.ev(2, 4330, "GCSweepDone", *([8192, 4096] if minor >= 9 else []))
    t.ev(2, 4340, "GCDone")
    t.ev(2, 4400, "GoPreempt", lock)
    if v5:
        t.ev(2, 4410, "GoStart", 3)
    else:
        t.ev(2, 4410, "GoStartLocal", 3)
    t.ev(1, 7000, "ProcStart", 4243)
    own = len([e for e in t.events if e[1] <= 7001]) + 1  # its number in order
    t.ev(1, 7001, "GoSysExit", 2, own if v5 else 2, 0)
    t.ev(1, 7010, "GoStart", *seq(2, 3))
    t.ev(1, 7020, "GoSysCall", lock)
    t.ev(3, 7100, "GoUnblock", *seq(9, 2, 0))
    t.ev(3, 7110, "ProcStart", 4250)
    t.ev(3, 7111, "GoStart", *seq(9, 3))
    t.ev(3, 7200, "GoSleep", lock)
    t.ev(3, 7201, "ProcStop")
    t.ev(4, 7300, "ProcStart", 4251)
    own = len([e for e in t.events if e[1] <= 7301]) + 1
    t.ev(4, 7301, "GoSysExit", 8, own if v5 else 2, 0)
    t.ev(4, 7310, "GoStart", *seq(8, 3))
    t.ev(4, 7400, "GoEnd")
    t.ev(4, 7401, "ProcStop")
    if minor >= 19:
        t.ev(2, 7450, "CPUSample", 7440, 2, 3, lock)
    t.ev(2, 7500, "GoEnd")
    t.ev(2, 7501, "ProcStop")
    t.ev(1, 7600, "GoUnblock", *seq(1, 2, spawn))
    t.ev(1, 7610, "GoEnd")
    t.ev(1, 7611, "ProcStop")
    t.ev(0, 7700, "ProcStart", 4242)
    t.ev(0, 7701, "GoStart", *seq(1, 3))
    t.ev(0, 7800, "GoSched", main)
    return t


for version in 5, 7, 8, 9, 10, 11, 19, 21:
    GOOD["everything-1.%d" % version] = everything(version).write()


# --- bytes


@bad("truncated")
def _(t):
    return t.write()[:-1]


@bad("truncated:text")
def _(t):
    t.tail = bytes([TYPES["String"]]) + leb(99) + leb(9) + b"short"


@bad("number")
def _(t):
    t.tail = bytes([TYPES["Frequency"]]) + b"\xff" * 10 + b"\x01"


@bad("number:65-bits", go119=True)
def _(t):
    t.frequency = None
    t.tail = bytes([TYPES["Frequency"]]) + b"\x89" + b"\x80" * 8 + b"\x02"


@bad("event-type")
def _(t):
    t.tail = bytes([63, 0])


@bad("event-type:later-version")
def _(t):
    t.ev(1, 1030, "CPUSample", 1030, 1, 2, t.work)


@bad("no-events", go126=True)
def _(t):
    t.events = []


@bad("frequency")
def _(t):
    t.frequency = 0


@bad("frequency:none")
def _(t):
    t.frequency = None


@bad("string-entry")
def _(t):
    entry = bytes([TYPES["String"]]) + leb(50) + leb(1) + b"x"
    t.tail = entry + entry


@bad("string-entry:id-0")
def _(t):
    t.tail = bytes([TYPES["String"]]) + leb(0) + leb(1) + b"x"


@bad("string-entry:empty")
def _(t):
    t.tail = bytes([TYPES["String"]]) + leb(50) + leb(0)


@bad("string-entry:huge")
def _(t):
    t.tail = bytes([TYPES["String"]]) + leb(50) + leb(1000001) + b"x" * 1000001


def numbered(count):
    frames = [(0x400000 + 16 * i, "f", "/a.c", i + 1) for i in range(count)]
    return frames


@bad("stack-frames", minor=10)
def _(t):
    t.stack(*numbered(1001))


@bad("stack-frames:count")
def _(t):
    t.tail = counted("Stack", [50, 2, 0x401100, 1, 2, 1])


@bad("pc-one-frame", go119=True, go126=True)
def _(t):
    pc = 0x401350
    t.stack((pc, "enter", "/c.h", 7), (pc, "work", "/a.c", 22))


@bad("unknown-stack", go119=True, go126=True)
def _(t):
    t.ev(1, 1030, "GoBlockSync", 50)


@bad("unknown-stack:new-thread", go119=True)
def _(t):
    t.ev(1, 1030, "GoCreate", 3, 50, t.work)


@bad("unknown-string", go119=True)
def _(t):
    t.ev(1, 1030, "UserTaskCreate", 7, 0, 50, t.work)


@bad("unknown-string:region", go119=True)
def _(t):
    t.ev(1, 1030, "UserRegion", 0, 0, 50, t.work)


@bad("unknown-string:log", go119=True)
def _(t):
    t.ev(1, 1030, "UserLog", 0, 50, t.work, text="x")


@bad("unknown-string:label", go119=True)
def _(t):
    block(t)
    t.ev(1, 1040, "GoUnblock", 2, 2, t.main)
    t.ev(1, 1041, "ProcStart", 11)
    t.ev(1, 1042, "GoStartLabel", 2, 3, 50)


@bad("unknown-string:frame", go119=True, go126=True)
def _(t):
    t.tail = counted("Stack", [50, 1, 0x500000, 50, 50, 1])


@bad("tick-range")
def _(t):
    t.ev(1, 1 << 63, "HeapAlloc", 1)


@bad("arg-count")
def _(t):
    t.ev(1, 1030, "ProcStop", 1)


@bad("arg-count:few")
def _(t):
    t.ev(1, 1030, "GoUnblock", 2)


@bad("record-length")
def _(t):
    # A number that would go on behind the length's end.
    t.tail = bytes([TYPES["GoUnblock"] | 3 << 6, 4, 1, 1, 1, 0x80, 0])


@bad("batch-first", go119=True)
def _(t):
    whole = t.write()
    early = counted("Stack", [50, 1, 0x500000, 1, 1, 1])
    return whole[:16] + early + whole[16:]


@bad("slot-number", go119=True)
def _(t):
    t.ev(1 << 31, 1030, "HeapAlloc", 1)


@bad("stack-size", go119=True)
def _(t):
    t.stack(*[(f[0] | 5 << 56, *f[1:]) for f in numbered(200)])


@bad("cpu-sample-batch", go119=True, go126=True, minor=19)
def _(t):
    sample = record("CPUSample", [1, 1030, 1, 2, t.work])
    t.ev(1, 1030, "HeapAlloc", 1)
    t.tail = record("Batch", [1, 1030]) + sample + record("HeapAlloc", [1, 2])


@bad("futile-wakeup", go119=True)
def _(t):
    t.ev(1, 1030, "FutileWakeup")


@bad("exit-local")
def _(t):
    t.ev(1, 1030, "GoSysCall", t.work)
    t.ev(1, 1031, "GoSysBlock")
    t.ev(1, 1040, "GoSysExitLocal", 2, 0)
    t.ev(1, 1041, "GoStartLocal", 2)


@bad("stop-kind", go126=True)
def _(t):
    t.ev(1, 1030, "STWStart", 2)


# --- order


@bad("sequence")
def _(t):
    block(t)
    t.ev(0, 1040, "GoUnblock", 2, 5, t.main)
    start(t, 2, 6, 1050)


@bad("sequence:start")
def _(t):
    t.ev(0, 1030, "GoCreate", 3, t.work, t.main)
    t.ev(2, 1040, "ProcStart", 12)
    t.ev(2, 1041, "GoStart", 3, 2)


@bad("thread-reused")
def _(t):
    t.ev(1, 1030, "GoEnd")
    t.ev(0, 1040, "GoCreate", 2, t.work, t.main)


@bad("thread-unknown")
def _(t):
    t.ev(2, 1030, "ProcStart", 12)
    t.ev(2, 1031, "GoStart", 9, 1)


@bad("start-runnable")
def _(t):
    block(t)
    start(t, 2, 2, 1050)


@bad("unblock-waiting")
def _(t):
    t.ev(0, 1040, "GoUnblock", 2, 2, t.main)


@bad("exit-waiting")
def _(t):
    t.ev(1, 1030, "GoSysCall", t.work)
    t.ev(1, 1040, "GoSysExit", 2, 2, 0)


@bad("snapshot-state")
def _(t):
    t.ev(1, 1030, "GoWaiting", 2)


@bad("not-running")
def _(t):
    t.ev(2, 1030, "GoBlockSync", t.work)


@bad("not-running:system-call")
def _(t):
    t.ev(2, 1030, "GoSysCall", t.work)


@bad("not-running:end")
def _(t):
    t.ev(1, 1030, "GoBlockSync", t.work)
    t.ev(1, 1031, "GoEnd")


@bad("gc-sequence")
def _(t):
    t.ev(0, 1030, "GCStart", 3, t.main)


@bad("time-order")
def _(t):
    block(t)
    t.ev(0, 1040, "GoUnblock", 2, 2, t.main)
    start(t, 2, 3, 1035)


@bad("time-order:batches")
def _(t):
    t.ev(1, 1030, "HeapAlloc", 1)
    t.tail = record("Batch", [1, 1025]) + record("HeapAlloc", [0, 2])


@bad("time-order:1.5", minor=5)
def _(t):
    t.events = everything(5).events
    t.frequency = 1
    # The sequence numbers of the first two batches are exchanged in time.
    data = everything(5).write()
    first = record("Batch", [0, 1, 1000], 2)
    assert data[16:].startswith(first)
    return data[:16] + record("Batch", [0, 1, 9000], 2) + data[16 + len(first) :]


@bad("same-sequence", go119=True, minor=5)
def _(t):
    data = everything(5)
    data.tail = record("Batch", [0, 1, 1000], 2) + record("HeapAlloc", [0, 0, 1], 2)
    return data.write()


@bad("snapshot-state:late")
def _(t):
    t.ev(1, 1030, "GoPreempt", t.work)
    t.ev(1, 1031, "GoWaiting", 2)


# 1.5 is in order by itself, so what order finds later is found by the states.
for rule, *events in (
    ("thread-reused", (0, "GoCreate", 2, 0x401300, 0)),
    ("thread-unknown", (3, "ProcStart", 1), (3, "GoStart", 77)),
    ("start-runnable", (3, "ProcStart", 1), (3, "GoStart", 9)),
    ("unblock-waiting", (0, "GoUnblock", 3, 0)),
    ("snapshot-state", (0, "GoWaiting", 9)),
    ("not-running", (3, "GoBlockSync", 0)),
):
    trace = everything(5)
    for i, (p, *event) in enumerate(events):
        trace.ev(p, 7790 + i, *event)
    trace.events = trace.sorted_events()
    BAD[rule + ":1.5"] = trace.write()

# An event that the file has behind the last one of its P, where no G is left,
# but that has its number while G 1 runs.
for event in ("GoCreate", 50, 0x401300, 0), ("GoUnblock", 9, 0):
    trace = everything(5)
    trace.ev(0, 7790, *event)
    BAD["not-running:1.5-" + event[0]] = trace.write()


# --- consistency


@bad("slot-busy")
def _(t):
    t.ev(0, 1022, "GoCreate", 3, t.work, t.main)
    t.ev(1, 1030, "GoStart", 3, 1)


@bad("slot-running")
def _(t):
    t.ev(1, 1030, "ProcStart", 11)


@bad("slot-stopped")
def _(t):
    t.ev(2, 1030, "ProcStop")


@bad("slot-in-use")
def _(t):
    t.ev(1, 1030, "ProcStop")


@bad("slot-without-thread", go119=True, go126=True)
def _(t):
    block(t)
    t.ev(1, 1040, "GoUnblock", 2, 2, t.main)
    t.ev(1, 1041, "GoStart", 2, 3)


@bad("thread-on-two-slots", go119=True, go126=True)
def _(t):
    t.ev(2, 1030, "ProcStart", 11)


@bad("no-gomaxprocs", go119=True, go126=True)
def _(t):
    t.events = [e for e in t.events if e[2] != "Gomaxprocs"]


@bad("before-gomaxprocs", go119=True, go126=True)
def _(t):
    t.events = [e for e in t.events if e[2] != "Gomaxprocs"]
    block(t)
    wake(t)
    t.ev(0, 1100, "Gomaxprocs", 2, t.main)


@bad("late-snapshot", go119=True, go126=True)
def _(t):
    t.ev(0, 1030, "GoCreate", 3, t.work, t.main)
    t.ev(0, 1031, "GoWaiting", 3)


@bad("create-stack", go119=True, go126=True)
def _(t):
    t.ev(0, 1030, "GoCreate", 3, 0, t.main)


@bad("syscall-block", go119=True, go126=True)
def _(t):
    t.ev(1, 1030, "GoSysBlock")
    t.ev(1, 1040, "GoSysExit", 2, 2, 0)
    t.ev(1, 1041, "GoStart", 2, 3)


@bad("syscall-block:not-directly", go119=True, go126=True)
def _(t):
    t.ev(1, 1030, "GoSysCall", t.work)
    t.ev(1, 1031, "HeapAlloc", 1)
    t.ev(1, 1032, "GoSysBlock")
    t.ev(1, 1040, "GoSysExit", 2, 2, 0)
    t.ev(1, 1041, "GoStart", 2, 3)


@bad("exit-of-wait", go119=True, go126=True)
def _(t):
    block(t)
    t.ev(1, 1040, "GoSysExit", 2, 2, 0)
    start(t, 2, 3, 1041)


@bad("unblock-of-call", go119=True, go126=True)
def _(t):
    syscall(t)
    wake(t)


@bad("exit-ticks")
def _(t):
    syscall(t)
    t.ev(1, 1040, "GoSysExit", 2, 2, 1029)
    start(t, 2, 3, 1041)


@bad("exit-ticks:future")
def _(t):
    syscall(t)
    t.ev(1, 1040, "GoSysExit", 2, 2, 1100)
    start(t, 2, 3, 1041)


@bad("exit-ticks:tick-0")
def _(t):
    t = Trace()
    stack = t.stack((0x401100, "main", "/a.c", 1))
    t.ev(0, 0, "GoCreate", 1, stack, stack)
    t.ev(0, 0, "GoInSyscall", 1)
    t.ev(0, 0, "Gomaxprocs", 2, stack)
    t.ev(1, 5, "ProcStart", 1)
    t.ev(1, 6, "GoSysExit", 1, 2, 6)
    t.ev(1, 7, "GoStart", 1, 3)
    return t.write()


@bad("gc-nesting")
def _(t):
    t.ev(0, 1030, "GCStart", 0, t.main)
    t.ev(0, 1040, "GCStart", 1, t.main)


@bad("gc-nesting:end")
def _(t):
    t.ev(0, 1030, "GCDone")


@bad("stop-nesting")
def _(t):
    t.ev(0, 1030, "STWStart", 0)
    t.ev(0, 1031, "STWStart", 0)


@bad("stop-nesting:end")
def _(t):
    t.ev(0, 1030, "STWDone")


@bad("stop-thread", go119=True, go126=True)
def _(t):
    t.ev(0, 1030, "STWStart", 0)
    t.ev(1, 1031, "STWDone")


@bad("sweep-nesting")
def _(t):
    t.ev(0, 1030, "GCSweepStart", t.main)
    t.ev(0, 1031, "GCSweepStart", t.main)


@bad("sweep-nesting:end")
def _(t):
    t.ev(0, 1030, "GCSweepDone", 0, 0)


@bad("assist-nesting")
def _(t):
    t.ev(0, 1030, "GCMarkAssistStart", t.main)
    t.ev(0, 1031, "GCMarkAssistStart", t.main)


@bad("open-at-end", go119=True, go126=True)
def _(t):
    t.ev(1, 1030, "GCMarkAssistStart", t.work)
    t.ev(1, 1031, "GoEnd")


@bad("task-unique")
def _(t):
    t.ev(1, 1030, "UserTaskCreate", 7, 0, t.string("task"), t.work)
    t.ev(1, 1031, "UserTaskCreate", 7, 0, t.string("task"), t.work)


@bad("region-nesting")
def _(t):
    t.ev(1, 1030, "UserRegion", 0, 0, t.string("a"), t.work)
    t.ev(1, 1031, "UserRegion", 0, 0, t.string("b"), t.work)
    t.ev(1, 1032, "UserRegion", 0, 1, t.string("a"), t.work)


@bad("region-mode")
def _(t):
    t.ev(1, 1030, "UserRegion", 0, 2, t.string("a"), t.work)
