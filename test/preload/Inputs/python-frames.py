# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Allocates blocks of different sizes, from large to small, in functions that
# are called in different ways. The tests know the numbers of the lines.

import asyncio
import functools
import threading

kept = []


def keep(mib):
    kept.append(bytearray(mib << 20))


class Outer:
    def method(self):
        self.nested()

    def nested(self):
        keep(20)


def generate():
    kept.append(bytearray(19 << 20))
    yield 1


def key(x):
    keep(18)
    return x


def add(a, b):
    return (lambda: keep(17))()


def fail():
    try:
        raise ValueError("x")
    except ValueError:
        keep(16)


async def inner():
    keep(15)


async def outer():
    await asyncio.sleep(0)
    await inner()


def größe():
    keep(14)


def large(
    x=1
):
    #








    return keep(
        13 * x
    )


Outer().method()
for i in generate():
    pass
sorted([1], key=key)
functools.reduce(add, [1, 2])
fail()
asyncio.run(outer())
thread = threading.Thread(target=größe)
thread.start()
thread.join()
large()
