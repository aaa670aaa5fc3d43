# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small valid traces in the formats of go 1.22 to 1.26: GOOD[name].
# trace_bad_cases.py has invalid ones.

from trace_writer import NONE, Generation, entry, write

GOOD = {}
FREQUENCY = 15625000  # a tick is 64 ns


def base(minor=23):
    """G 1 and G 2 run on threads 10 and 11; ticks up to 1021 are used."""
    g = Generation(minor, 1)
    g.main = g.stack((0x401100, "main", "/a.c", 1))
    g.work = g.stack((0x401200, "work", "/a.c", 2))
    g.ev(10, 1000, "ProcStatus", 0, 1)
    g.ev(10, 1001, "GoStatusStack", 1, 10, 2, g.main)
    g.ev(10, 1002, "ProcsChange", 2, g.main)
    g.ev(10, 1010, "GoCreate", 2, g.work, g.main)
    g.ev(11, 1020, "ProcStatus", 1, 1)
    g.ev(11, 1021, "GoStart", 2, 1)
    return g


def case(table, name, minor):
    def add(change):
        g = base(minor)
        result = change(g)
        table[name] = result if isinstance(result, bytes) else write(minor, g)
        return change

    return add


def good(name, minor=23):
    return case(GOOD, name, minor)


def block(g, tick=1030, m=11, reason="sync", stack=None):
    g.ev(m, tick, "GoBlock", g.string(reason), stack or g.work)
    g.ev(m, tick + 1, "ProcStop")


def start(g, thread, seq, tick, m=11, proc_seq=1):
    g.ev(m, tick, "ProcStart", m - 10, proc_seq)
    g.ev(m, tick + 1, "GoStart", thread, seq)


def everything(minor):
    """What a tracer of C programs writes, in one trace."""
    g = Generation(minor, 1)
    main = g.stack((0x401100, "main", "/a.c", 40))
    spawn = g.stack((0x401150, "spawn", "/a.c", 33), (0x401100, "main", "/a.c", 40))
    work = g.stack((0x401300, "work", "/a.c", 19))
    lock = g.stack((0x401350, "enter", "/c.h", 7), (0x401300, "work", "/a.c", 19))
    g.ev(42, 1000, "ProcStatus", 0, 1)
    g.ev(42, 1001, "GoStatus", 1, 42, 2)
    g.ev(42, 1002, "GoStatus", 8, 48, 3)
    g.ev(42, 1003, "GoStatus", 9, NONE, 4)
    g.ev(42, 1004, "ProcsChange", 4, main)
    g.ev(42, 1100, "GoCreate", 2, work, spawn)
    g.ev(42, 1110, "GoCreate", 3, work, spawn)
    g.ev(43, 1200, "ProcStatus", 1, 1)
    g.ev(43, 1201, "GoStart", 2, 1)
    g.ev(44, 1210, "ProcStatus", 2, 1)
    g.ev(44, 1211, "GoStart", 3, 1)
    g.ev(44, 1220, "GoLabel", g.string("painter"))
    g.ev(44, 2000, "GoBlock", g.string("mutex"), lock)
    g.ev(44, 2001, "ProcStop")
    g.ev(43, 3500, "GoUnblock", 3, 2, spawn)
    g.ev(44, 3600, "ProcStart", 2, 1)
    g.ev(44, 3601, "GoStart", 3, 3)
    g.ev(43, 4000, "GoSyscallBegin", 1, lock)
    name = g.string("render")
    g.ev(44, 4100, "UserTaskBegin", 7, 0, g.string("frame"), work)
    g.ev(44, 4110, "UserRegionBegin", 7, name, work)
    g.ev(44, 4120, "UserRegionBegin", 7, g.string("frame"), work)
    g.ev(44, 4130, "UserLog", 7, g.string("cat"), g.string('said "hello"\n'), work)
    g.ev(44, 4140, "UserRegionEnd", 7, g.string("frame"), work)
    g.ev(44, 4200, "HeapAlloc", 123456)
    g.ev(44, 4201, "HeapGoal", 4194304)
    g.ev(44, 4300, "GCBegin", 1, work)
    g.ev(44, 4301, "STWBegin", g.string("mark"), work)
    g.ev(44, 4310, "STWEnd")
    g.ev(44, 4320, "GCSweepBegin", work)
    g.ev(44, 4330, "GCSweepEnd", 8192, 4096)
    g.ev(44, 4340, "GCEnd", 2)
    g.ev(44, 4350, "GoSyscallBegin", 2, lock)
    g.ev(44, 4350, "GoSyscallEnd")
    g.ev(44, 4400, "GoStop", g.string("preempted"), lock)
    g.ev(44, 4410, "GoStart", 3, 4)
    g.samples = entry("CPUSamples") + entry("CPUSample", 4420, 44, 2, 3, lock)
    g.ev(43, 7000, "GoSyscallEnd")
    g.ev(43, 7010, "GoSyscallBegin", 2, lock)
    # What is open stays open in the next generation, where ids mean other
    # strings and stacks.
    h = Generation(minor, 2)
    late = h.stack((0x401500, "late", "/b.c", 3))
    h.ev(42, 8000, "ProcStatus", 0, 1)
    h.ev(42, 8001, "GoStatus", 1, 42, 2)
    h.ev(43, 8000, "ProcStatus", 1, 3)
    h.ev(43, 8001, "GoStatus", 2, 43, 3)
    h.ev(44, 8000, "ProcStatus", 2, 1)
    h.ev(44, 8001, "GoStatus", 3, 44, 2)
    h.ev(44, 8002, "GoStatus", 8, 48, 3)
    h.ev(44, 8003, "GoStatus", 9, NONE, 4)
    h.ev(44, 8100, "UserRegionEnd", 7, h.string("render"), late)
    h.ev(44, 8110, "UserTaskEnd", 7, late)
    h.ev(43, 8200, "ProcStop")
    h.ev(43, 8300, "ProcStart", 1, 1)
    h.ev(43, 8301, "GoSyscallEndBlocked")
    h.ev(43, 8310, "GoStart", 2, 1)
    h.ev(43, 8400, "GoUnblock", 9, 1, late)
    h.ev(43, 8500, "GoDestroy")
    h.ev(43, 8501, "ProcStop")
    h.ev(44, 9000, "GoDestroy")
    h.ev(44, 9001, "ProcStop")
    h.ev(42, 9100, "GoStop", h.string("end"), late)
    g.frequency = h.frequency = FREQUENCY
    return write(minor, g, h)


for version in 22, 23, 25, 26:
    GOOD["everything-1.%d" % version] = everything(version)


@good("left-running")
def _(g):
    pass


@good("self-unblock")
def _(g):
    block(g)
    g.ev(11, 1040, "GoUnblock", 2, 2, g.main)
    g.ev(11, 1041, "ProcStart", 1, 1)
    g.ev(11, 1042, "GoStart", 2, 3)


@good("stolen")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(10, 1040, "ProcSteal", 1, 2, 11)
    g.ev(11, 1050, "GoSyscallEndBlocked")


@good("unblock-by-another")
def _(g):
    block(g, reason="sync.(*Cond).Wait")
    g.ev(10, 1040, "GoUnblock", 2, 2, g.main)
    start(g, 2, 3, 1050)


@good("equal-ticks")
def _(g):
    block(g, 1030)
    g.ev(10, 1031, "GoUnblock", 2, 2, g.main)
    start(g, 2, 3, 1031)


@good("system-calls")
def _(g):
    g.ev(11, 1025, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1025, "GoSyscallEnd")
    g.ev(11, 1030, "GoSyscallBegin", 2, g.work)
    g.ev(11, 1051, "GoSyscallEnd")


@good("thread-exit-and-slot-reuse")
def _(g):
    g.ev(11, 1030, "GoDestroy")
    g.ev(11, 1031, "ProcStop")
    g.ev(10, 1035, "GoCreate", 3, g.work, g.main)
    g.ev(12, 1040, "ProcStart", 1, 1)
    g.ev(12, 1041, "GoStart", 3, 1)


@good("unknown-thread-declares-itself")
def _(g):
    g.ev(20, 1030, "ProcStatus", 5, 2)
    g.ev(20, 1031, "ProcStart", 5, 1)
    g.ev(20, 1031, "GoCreate", 7, g.work, 0)
    g.ev(20, 1032, "GoStart", 7, 1)


@good("without-stacks")
def _(g):
    g.ev(11, 1030, "GoBlock", g.string("sync"), 0)
    g.ev(11, 1031, "GoUnblock", 2, 2, 0)
    g.ev(11, 1032, "GoStart", 2, 3)


@good("left-open")
def _(g):
    """Regions and a task that nobody ends, a G on two kernel threads."""
    g.frequency = FREQUENCY
    g.ev(10, 1020, "UserRegionBegin", 0, g.string("whole"), g.main)
    g.ev(10, 1025, "UserTaskBegin", 7, 0, g.string("job"), g.main)
    g.ev(10, 1026, "UserTaskEnd", 8, g.main)
    g.ev(10, 1027, "UserRegionBegin", 0, g.string("part"), g.main)
    g.ev(10, 1028, "GCMarkAssistBegin", g.main)
    g.ev(10, 1029, "GCMarkAssistEnd")
    g.ev(11, 1030, "UserRegionBegin", 0, g.string("rest"), g.work)
    g.ev(11, 1040, "GoDestroy")
    g.ev(10, 1050, "GoCreate", 3, g.work, g.main)
    g.ev(11, 1060, "GoStart", 3, 1)
    g.ev(11, 1070, "GoStop", g.string("preempted"), g.work)
    g.ev(12, 1080, "ProcStatus", 2, 1)
    g.ev(12, 1081, "GoStart", 3, 2)
    g.ev(12, 1100, "HeapAlloc", 1)


def ms(time):
    return 1000 + int(time * 1000000)


@good("waits")
def _(g):
    """Waits that end in every way, in a C++ program."""
    worker = "(anonymous namespace)::Pool<int, long>::worker"
    run = g.stack(
        (
            0x402000,
            "std::thread::thread<%s, int, void>(%s&&, int&&)" % (worker, worker),
            "/usr/include/c++/12/bits/std_thread.h",
            127,
        )
    )
    lock = g.stack(
        (0x403000, "pthread_mutex_lock", "", 0),
        (0x403100, "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100),
        (0x403200, "Pool::take(void (*)(int))", "/src/pool.cpp", 12),
        (0x401200, "work", "/a.c", 2),
    )
    unlock = g.stack(
        (0x404000, "pthread_mutex_unlock", "", 0),
        (0x404100, "Pool::operator()(int)", "/src/pool.cpp", 34),
    )
    # A name without parameters.
    calls = [g.stack((0x404200 + n, "operator()", "/src/pool.cpp", n)) for n in (36, 38)]
    join = g.stack((0x405000, "std::thread::join()", "", 0))
    post = g.stack((0x406000, "post", "/a.c", 0))

    # What MProf writes of a thread with a name.
    g.ev(11, ms(0.5), "UserLog", 0, g.string("thread.name"), g.string("taker \"1\""), 0)
    g.ev(10, ms(1), "GoCreate", 3, run, g.main)
    g.ev(12, ms(2), "ProcStatus", 2, 1)
    g.ev(12, ms(3), "GoStart", 3, 1)
    block(g, ms(10), stack=lock)
    g.ev(12, ms(30), "GoUnblock", 2, 2, unlock)
    start(g, 2, 3, ms(31), proc_seq=1)
    block(g, ms(40), stack=lock)
    g.ev(12, ms(45), "GoUnblock", 2, 4, unlock)
    start(g, 2, 5, ms(46), proc_seq=2)
    block(g, ms(50), m=10, reason="sync.(*Cond).Wait", stack=join)
    g.ev(10, ms(60), "GoUnblock", 1, 1, post)
    start(g, 1, 2, ms(60.5), m=10)
    block(g, ms(51), stack=lock)
    g.ev(12, ms(55), "GoUnblock", 2, 6, calls[0])
    start(g, 2, 7, ms(55.5), proc_seq=3)
    block(g, ms(56), stack=lock)
    g.ev(12, ms(60), "GoUnblock", 2, 8, calls[1])
    start(g, 2, 9, ms(60.5), proc_seq=4)
    block(g, ms(61), reason="sleep", stack=g.work)
    g.ev(11, ms(2061), "GoUnblock", 2, 10, 0)
    start(g, 2, 11, ms(2061.5), proc_seq=5)
    block(g, ms(2100), m=12, reason="network", stack=lock)
    g.ev(10, ms(2110), "GoSyscallBegin", 2, join)
    g.ev(10, ms(2110.5), "GoSyscallEnd")
    g.ev(10, ms(2150), "HeapAlloc", 1)


@good("holders")
def _(g):
    """A task that waits for a lock while a thread holds it twice, as MProf writes it."""
    lock = g.stack((0x403000, "lock", "/a.c", 5))
    slow = g.stack((0x404000, "slow", "/a.c", 10))
    quick = g.stack((0x405000, "quick", "/a.c", 20))

    def message(m, time, key, text, stack=0):
        g.ev(m, ms(time), "UserLog", 0, g.string(key), g.string(text), stack)

    def release(time, address, stack):
        message(12, time, "lock.address", address)
        message(12, time, "lock.waited_ns", "1000000", stack)

    g.ev(10, ms(1), "GoCreate", 3, g.work, g.main)
    g.ev(12, ms(2), "ProcStatus", 2, 1)
    g.ev(12, ms(3), "GoStart", 3, 1)
    g.ev(10, ms(10), "UserTaskBegin", 1, 0, g.string("task"), g.main)
    message(10, 10, "lock.address", "table+0x8 (0x1008)")
    block(g, ms(10), m=10, stack=lock)
    release(30, "table+0x8 (0x1008)", slow)
    release(35, "0x2000", quick)
    release(40, "table+0x8 (0x1008)", quick)
    g.ev(12, ms(40), "GoUnblock", 1, 1, quick)
    start(g, 1, 2, ms(40), m=10)
    # A charge is no wait: this one has no lock.
    message(10, 42, "lock.address", "0x2000")
    message(10, 42, "lock.waited_ns", "1000000", slow)
    block(g, ms(42), m=10, reason="sleep", stack=g.main)
    g.ev(10, ms(43), "GoUnblock", 1, 3, 0)
    start(g, 1, 4, ms(43), m=10, proc_seq=2)
    g.ev(10, ms(50), "UserTaskEnd", 1, g.main)


@good("regions")
def _(g):
    """Regions without tasks: one that has another inside, and one that does not end."""
    lock = g.stack((0x403000, "lock", "/a.c", 5))

    def begin(time, name):
        g.ev(10, ms(time), "UserRegionBegin", 0, g.string(name), g.main)

    def end(time, name):
        g.ev(10, ms(time), "UserRegionEnd", 0, g.string(name), g.main)

    begin(10, "request")
    begin(11, "parse")
    block(g, ms(12), m=10, stack=lock)
    g.ev(10, ms(16), "GoUnblock", 1, 1, 0)
    start(g, 1, 2, ms(16), m=10)
    end(17, "parse")
    end(20, "request")
    begin(25, "request")
    end(30, "request")
    begin(32, "poll")
    g.ev(10, ms(40), "GoStop", g.string("end"), 0)


@good("tasks")
def _(g):
    """Tasks that one thread works for, or two, or for a time none."""
    lock = g.stack((0x403000, "lock", "/a.c", 5))
    unlock = g.stack((0x404000, "unlock", "/a.c", 10))
    push = g.stack((0x405000, "push", "/a.c", 20))
    wait = g.stack((0x406000, "wait", "/a.c", 30))

    def begin(m, time, task, parent, name):
        g.ev(m, ms(time), "UserTaskBegin", task, parent, g.string(name), g.main)

    def end(m, time, task):
        g.ev(m, ms(time), "UserTaskEnd", task, g.main)

    # G 1 ends its own task. It waits for a lock that G 2 holds.
    begin(10, 10, 1, 0, "request")
    block(g, ms(12), m=10, stack=lock)
    g.ev(11, ms(18), "GoUnblock", 1, 1, unlock)
    start(g, 1, 2, ms(19), m=10)
    g.ev(10, ms(20), "GoSyscallBegin", 2, g.main)
    g.ev(10, ms(23), "GoSyscallEnd")
    end(10, 25, 1)
    # G 1 wakes G 2, which ends the task. A part of it is a task of its own.
    block(g, ms(29), reason="sync.(*Cond).Wait", stack=wait)
    begin(10, 30, 2, 0, "job")
    g.ev(10, ms(31), "GoUnblock", 2, 2, push)
    start(g, 2, 3, ms(32))
    begin(11, 33, 3, 2, "query")
    block(g, ms(34), reason="network", stack=wait)
    g.ev(11, ms(35.5), "GoUnblock", 2, 4, 0)
    start(g, 2, 5, ms(36), proc_seq=2)
    end(11, 36.5, 3)
    block(g, ms(37), reason="sleep", stack=g.work)
    g.ev(11, ms(39), "GoUnblock", 2, 6, 0)
    start(g, 2, 7, ms(39.2), proc_seq=3)
    end(11, 40, 2)
    # G 2 is busy when G 1 begins the task. G 1 leaves it for another one.
    begin(11, 45, 5, 0, "request")
    begin(10, 50, 4, 0, "queued")
    block(g, ms(51), m=10, reason="select", stack=wait)
    g.ev(10, ms(54), "GoUnblock", 1, 3, 0)
    start(g, 1, 4, ms(54.5), m=10, proc_seq=3)
    begin(10, 55, 6, 0, "request")
    end(10, 56, 6)
    end(11, 60, 5)
    end(11, 63, 4)
    # G 1 waits for a region of the task that G 2 is in.
    begin(10, 70, 7, 0, "parallel")
    block(g, ms(71), m=10, reason="sync.(*Cond).Wait", stack=wait)
    g.ev(11, ms(72), "UserRegionBegin", 7, g.string("half"), g.work)
    block(g, ms(73), stack=lock)
    g.ev(11, ms(76), "GoUnblock", 2, 8, 0)
    start(g, 2, 9, ms(76.5), proc_seq=4)
    g.ev(11, ms(78), "UserRegionEnd", 7, g.string("half"), g.work)
    g.ev(11, ms(78.5), "GoUnblock", 1, 5, push)
    start(g, 1, 6, ms(79), m=10, proc_seq=4)
    end(10, 80, 7)
    # The trace has only the begin or the end of these tasks.
    begin(10, 90, 8, 0, "request")
    end(10, 95, 99)
    g.ev(10, ms(100), "HeapAlloc", 1)


@good("stopped")
def _(g):
    """A thread without a processor, as MProf writes it with trace_schedule."""

    def stopped(m, time, kind, ns):
        key, text = g.string("thread.%s_ns" % kind), g.string(str(ns))
        g.ev(m, ms(time), "UserLog", 0, key, text, 0)

    g.ev(10, ms(10), "UserTaskBegin", 1, 0, g.string("task"), g.main)
    stopped(10, 20, "preempted", 2000000)
    block(g, ms(20), m=10, stack=g.main)
    g.ev(10, ms(25), "GoUnblock", 1, 1, 0)
    start(g, 1, 2, ms(25), m=10)
    stopped(10, 30, "off_cpu", 1000000)
    g.ev(10, ms(30), "UserTaskEnd", 1, g.main)
    # More than the thread ran, and no number.
    stopped(11, 35, "preempted", 99000000)
    stopped(11, 35, "preempted", "much")
    g.ev(10, ms(40), "HeapAlloc", 1)


@good("stopped-later")
def _(g):
    """Tasks of a thread that learns at its next wait that it had no processor."""
    for number, begin, end in (1, 0, 10), (2, 10, 30), (3, 35, 60):
        g.ev(10, ms(begin), "UserTaskBegin", number, 0, g.string("task"), g.main)
        if number == 3:
            key = g.string("thread.preempted_ns")
            g.ev(10, ms(40), "UserLog", 0, key, g.string("8000000"), 0)
            block(g, ms(40), m=10, stack=g.main)
            g.ev(10, ms(50), "GoUnblock", 1, 1, 0)
            start(g, 1, 2, ms(50), m=10)
        g.ev(10, ms(end), "UserTaskEnd", number, g.main)


@good("locks")
def _(g):
    """Waits at one line for locks with names, and for one without a name."""
    lock = g.stack((0x403000, "lock", "/a.c", 5))

    def wait(time, length, *names):
        for name in names:
            key, text = g.string("lock.name"), g.string(name)
            g.ev(10, ms(time), "UserLog", 0, key, text, 0)
        block(g, ms(time), m=10, stack=lock)
        g.ev(10, ms(time + length), "GoUnblock", 1, wait.seq, 0)
        start(g, 1, wait.seq + 1, ms(time + length), m=10, proc_seq=(wait.seq + 1) // 2)
        wait.seq += 2

    wait.seq = 1
    g.ev(10, ms(10), "UserTaskBegin", 1, 0, g.string("task"), g.main)
    wait(11, 4, "queue")
    wait(16, 2)
    wait(20, 3, "queue")
    wait(25, 1, "index")
    # No wait for this lock follows.
    g.ev(10, ms(26.5), "UserLog", 0, g.string("lock.name"), g.string("lost"), 0)
    g.ev(10, ms(27), "GoSyscallBegin", 5, g.main)
    g.ev(10, ms(27.5), "GoSyscallEnd")
    g.ev(10, ms(40), "UserTaskEnd", 1, g.main)
    g.ev(10, ms(50), "HeapAlloc", 1)


@good("samples")
def _(g):
    """CPU samples of two threads that work for a task, and of one that waits."""
    parse = g.stack(
        (0x403000, "clock_gettime", "sysdeps/unix/sysv/linux/clock_gettime.c", 0),
        (0x403080, "memcpy", "", 0),
        (0x403100, "std::copy(int)", "/usr/include/c++/12/bits/stl_algo.h", 9),
        (0x403200, "Parser::parse(int)", "/a.c", 5),
    )
    other = g.stack((0x403300, "Parser::parse(int)", "/a.c", 6))
    stacks = [g.stack((0x404000 + n, name, "/a.c", n)) for n, name in enumerate("bcd")]
    hidden = g.stack((0x405000, "hidden", "/a.c", 9))
    idle = g.stack((0x406000, "idle", "/a.c", 9))

    def sample(m, time, thread, *stacks):
        for n, stack in enumerate(stacks):
            g.samples += entry("CPUSample", ms(time) + n, m, m - 10, thread, stack)

    g.samples = entry("CPUSamples")
    sample(10, 5, 1, hidden)  # before the task
    g.ev(10, ms(10), "UserTaskBegin", 1, 0, g.string("task"), g.main)
    sample(10, 11, 1, parse, other, stacks[0], parse, stacks[2])
    sample(10, 12, 1, stacks[0], stacks[0], parse, stacks[1], 0, stacks[1])
    sample(11, 13, 2, idle)  # works for no task
    block(g, ms(20), m=10, stack=g.main)
    sample(10, 22, 1, hidden)  # does not run
    g.ev(10, ms(25), "GoUnblock", 1, 1, 0)
    start(g, 1, 2, ms(25), m=10)
    sample(10, 30, 1, g.main)
    g.ev(10, ms(40), "UserTaskEnd", 1, g.main)
    g.ev(10, ms(50), "HeapAlloc", 1)


@good("charges")
def _(g):
    """Waits for a lock with charges of its releases, as MProf writes them."""
    lock = g.stack((0x403000, "lock", "/a.c", 5))
    slow = g.stack((0x404000, "slow", "/a.c", 10))
    quick = g.stack((0x405000, "quick", "/a.c", 20))
    key = g.string("lock.waited_ns")

    def charge(time, stack, text):
        g.ev(12, ms(time), "UserLog", 0, key, g.string(text), stack)

    g.ev(10, ms(1), "GoCreate", 3, g.work, g.main)
    g.ev(12, ms(2), "ProcStatus", 2, 1)
    g.ev(12, ms(3), "GoStart", 3, 1)
    block(g, ms(10), stack=lock)
    charge(40, slow, "30000000")
    g.ev(12, ms(40), "GoUnblock", 2, 2, slow)
    start(g, 2, 3, ms(41), proc_seq=1)
    # The first release wakes nobody. The charge of the second release comes
    # after the end of the wait.
    block(g, ms(50), stack=lock)
    charge(70, slow, "20000000")
    g.ev(12, ms(70.5), "GoUnblock", 2, 4, quick)
    charge(70.5, quick, "500000")
    start(g, 2, 5, ms(71), proc_seq=2)
    # A wait for a semaphore, and messages that are not charges.
    block(g, ms(80), stack=lock)
    charge(85, quick, "much")
    charge(85, quick, "18446744073709551616")
    g.ev(12, ms(85), "GoUnblock", 2, 6, quick)
    start(g, 2, 7, ms(86), proc_seq=3)
