# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare TABLE HOOKS: checks that the table has every line of hooks.def about
#     locks, waits and threads, and no other lines.
# make TABLE LIBC: prints IR that calls each function of the table in several
#     ways, for programs with glibc (gnu) or musl.
# check TABLE LIBC IR: checks how the pass has rewritten each of these calls.

import re
import sys

TYPES = {"v": "void", "p": "ptr", "z": "i64", "i": "i32", "b": "i1"}
RULES = ("OWNED", "RELEASE", "WAIT", "CREATE", "UNLOAD", "KIND", "ATTRIBUTE")


def table(path):
    rows = [line.split() for line in open(path)]
    return [tuple(r) for r in rows if r and r[0] in RULES]


def compare(path, hooks):
    text = re.sub(r"//[^\n]*", "", open(hooks).read())
    found = []
    for rule, args in re.findall(r"^MPROF_(\w+)\(([^)]*)\)", text, re.M):
        if rule in RULES:
            found.append((rule, *[a.strip(' "\n') for a in args.split(",")]))
    here = table(path)
    for row in found:
        assert row in here, "only in hooks.def: %s" % (row,)
    for row in here:
        assert row in found, "not in hooks.def: %s" % (row,)
    assert len(set(here)) == len(here) == len(found)
    kinds = [r for r in here if r[0] == "KIND"]
    assert kinds == [r for r in found if r[0] == "KIND"], "the order of the kinds differs"
    print("%d lines" % len(found))


class Function:
    def __init__(self, row, libc, kinds):
        self.rule, self.symbol = row[:2]
        is_lock = self.rule == "OWNED"
        thread = "p" if libc == "musl" else "z"
        self.proto = "ip" if is_lock else row[2].replace("t", thread)
        self.owner = row[3 if libc == "musl" else 2] if is_lock else None
        self.object = int(row[3]) if self.rule == "RELEASE" else 0
        if is_lock or self.rule == "WAIT":
            self.bit = 1 << kinds.index(row[4 if is_lock else 3])
        self.result = TYPES[self.proto[0]]
        self.variable = self.proto.endswith(".")
        self.params = [TYPES[c] for c in self.proto[1:].rstrip(".")]
        self.args = ["%s %%a%d" % p for p in zip(self.params, range(9))]
        fixed = ", ".join(self.params)
        self.type = self.result
        if self.variable:
            self.type += " (%s, ...)" % fixed
            self.args.append("ptr %more")
        self.declaration = "%s @%%s(%s)" % (
            self.result,
            fixed + ", ..." * self.variable,
        )
        self.list = "(%s)" % ", ".join(self.args)

    def call(self, callee):
        return "call %s %s%s" % (self.type, callee, self.list)


def functions(path, libc):
    rows = table(path)
    kinds = [r[1] for r in rows if r[0] == "KIND"]
    return [
        Function(r, libc, kinds)
        for r in rows
        if r[0] not in ("KIND", "ATTRIBUTE")
    ]


# --- the sites ---

WAYS = ("plain", "cold", "tsan", "invoke", "musttail", "ignored")


def site(f, way):
    attributes = {"cold": "cold", "tsan": "sanitize_thread"}.get(way, "")
    head = "define %s @%s_%s%s %s" % (f.result, way, f.symbol, f.list, attributes)
    got = "" if f.result == "void" else "%r = "
    ret = "ret void" if f.result == "void" else "ret %s %%r" % f.result
    callee = "@" + f.symbol
    if way == "invoke":
        return """%s personality ptr @__gxx_personality_v0 {
  %sinvoke %s %s%s to label %%ok unwind label %%bad
ok:
  %s
bad:
  %%l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %%l
}""" % (head, got, f.type, callee, f.list, ret)
    if way == "musttail":
        return "%s {\n  %smusttail %s\n  %s\n}" % (head, got, f.call(callee), ret)
    return "%s {\n  %s%s\n  %s\n}" % (head, got, f.call(callee), ret)


def ways(f):
    # The caller of a musttail call with variable arguments must have them, too.
    return [w for w in WAYS if w != "musttail" or not f.variable]


def make(path, libc):
    print('source_filename = "sites.c"')
    print('target triple = "x86_64-pc-linux-%s"' % libc)
    print("declare i32 @__gxx_personality_v0(...)")
    for f in functions(path, libc):
        print("declare " + f.declaration % f.symbol)
        for way in ways(f):
            print(site(f, way))


# --- the rewritten sites ---


def condition(f):
    """Returns the lines of the test, and the value that has its result."""
    if f.rule == "OWNED":
        return (
            """%1 = getelementptr inbounds i32, ptr %a0, i64 {owner}
%2 = load i32, ptr %1, align 4
%3 = load i64, ptr @__mprof_owned_mask, align 8
%4 = ptrtoint ptr %a0 to i64
%5 = lshr i64 %4, 6
%6 = and i64 %5, 1023
%7 = getelementptr inbounds i32, ptr @__mprof_waiters, i64 %6
%8 = load i32, ptr %7, align 4
%9 = or i32 %2, %8
%10 = zext i32 %9 to i64
%11 = and i64 %10, %3
%12 = icmp ne i64 %11, 0""".format(owner=f.owner),
            "%12",
        )
    if f.rule == "WAIT":
        return (
            """%1 = load i64, ptr @__mprof_sync_kinds, align 8
%2 = and i64 %1, {bit}
%3 = icmp ne i64 %2, 0""".format(bit=f.bit),
            "%3",
        )
    return (
        """%1 = ptrtoint ptr %a{object} to i64
%2 = lshr i64 %1, 6
%3 = and i64 %2, 1023
%4 = getelementptr inbounds i32, ptr @__mprof_waiters, i64 %3
%5 = load i32, ptr %4, align 4
%6 = icmp ne i32 %5, 0""".format(object=f.object),
        "%6",
    )


def expected(f, way):
    """Returns (lines, calls): the lines up to the branch, and all calls."""
    own, entry = "@" + f.symbol, "@__mprof_" + f.symbol
    if way == "ignored" and f.rule in ("OWNED", "WAIT"):
        return "", [f.call(own)]
    if f.rule in ("CREATE", "UNLOAD"):
        return "", [f.call(entry)]
    if f.rule == "OWNED" and way in ("cold", "musttail"):
        return "", [f.call(entry)]
    lines, answer = condition(f)
    if way == "musttail":
        chosen = "%" + str(int(answer[1:]) + 1)
        lines += "\n%s = select i1 %s, ptr %s, ptr %s" % (chosen, answer, entry, own)
        return lines, [f.call(chosen)]
    lines += "\nbr i1 %s, label %%mprof.cold, label %%mprof.fast" % answer
    return lines, [f.call(own), f.call(entry)]


def check_site(f, way, body):
    lines, calls = expected(f, way)
    assert body.startswith(lines), "expected\n%s\nin\n%s" % (lines, body)
    kept = "invoke " if way == "invoke" else "call "
    found = re.findall(r"(?:call|invoke) (?!void @llvm)[^\n]*\)", body)
    wanted = list(calls)
    if way == "invoke":
        wanted = [c.replace("call", "invoke", 1) for c in calls]
        assert body.count("unwind label %bad") == len(calls), body
        assert body.count("landingpad") == 1, body
    assert found == wanted, "expected calls\n%s\nin\n%s" % (wanted, body)
    if way == "musttail":
        assert "musttail" in body
    for line in body.splitlines():
        if re.search(r"\bcall [^@]*@__mprof_", line):
            assert re.search(r"\b(notail|musttail) call", line), line


def check(path, libc, ir):
    text = open(ir).read()
    text = re.sub(r"(, ![a-z]+ !\d+|,? ?; preds.*|(?<=\)) #\d+)", "", text)
    text = re.sub(r"\n +(to label)", r" \1", text)
    found = re.findall(r"^define \w+ @(\w+)\([^{]*{\n(.*?)^}", text, re.M | re.S)
    bodies = dict(found)
    count = 0
    for f in functions(path, libc):
        for way in ways(f):
            body = bodies["%s_%s" % (way, f.symbol)]
            body = "\n".join(line.strip() for line in body.splitlines())
            try:
                check_site(f, way, body)
            except AssertionError as error:
                sys.exit("%s, %s: %s" % (f.symbol, way, error))
            count += 1
    print("%d sites" % count)


{"compare": compare, "make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
