# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random layouts of a program in memory.

The layout of a program, such as the order of its functions, changes its time by some
per cent. A single build of each variant would compare layouts, not variants.
"""

import random
import re
import subprocess

PAGE = 4096
# Functions that nobody calls, each with a random size.
GAPS = 4


def new_seed(numbers):
    """Returns the seed of a layout. numbers: a random.Random."""
    return numbers.randrange(1, 1 << 31)


def environment(numbers):
    """Returns an environment of random size, which moves the stack."""
    return {"MPROF_BENCH_FILLER": "x" * numbers.randrange(PAGE)}


def functions(objects):
    """Returns the names of the functions in object files."""
    out = subprocess.run(["nm", "--defined-only", *objects], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    return sorted(set(re.findall(r"^\S+ [TtWw] (\S+)$", out, re.M)))


def shuffle(objects, seed, order):
    """Writes the names of the functions in object files into a file, in an order that
    depends on the seed. Returns the linker's flags for this order."""
    names = functions(objects)
    random.Random(seed).shuffle(names)
    with open(order, "w", encoding="utf-8") as f:
        f.write("\n".join(names) + "\n")
    return ["-Xlinker", "--symbol-ordering-file=" + order,
            "-Wl,--no-warn-symbol-ordering"]


def link(compiler, objects, libraries, seed, to):
    """Links a program. The linker orders the program's functions by the seed. Seed 0
    leaves them in their order. The functions of MProf's runtime follow them in both
    cases, as in every program: if they lay between the program's functions
    (--shuffle-sections), the program's hot code would be spread over three times as
    many pages."""
    order = shuffle(objects, seed, to + ".order") if seed else []
    subprocess.run([*compiler, "-fuse-ld=lld", *order, *objects, *libraries, "-o", to],
                   check=True)


def make_gaps(seed, to):
    """Compiles an object file of functions and data that nobody uses. Their sizes depend
    on the seed. They move the functions and the data of a program that is too small to
    have many orders, and those of the runtime behind it."""
    numbers = random.Random(seed)

    def skip(most):
        return ".balign 16\n.skip %d\n" % (16 * numbers.randrange(1, most // 16))

    text = "".join(
        '.section .text.gap%d,"ax",@progbits\n.globl gap%d\n.type gap%d,@function\n'
        "gap%d:\n%s" % (i, i, i, i, skip(PAGE // GAPS)) for i in range(GAPS))
    text += ".data\n%s.bss\n%s" % (skip(PAGE), skip(PAGE))
    text += '.section .note.GNU-stack,"",@progbits\n'
    subprocess.run(["clang-19", "-c", "-x", "assembler", "-", "-o", to], input=text,
                   text=True, check=True)
