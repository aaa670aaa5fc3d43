# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare TABLE HOOKS: checks that the table has every line of hooks.def about
#     locks, waits, threads and mapped memory, and no other lines.
# make TABLE PROCESSOR LIBC: prints IR that calls each function of the table in several
#     ways, for programs with glibc (gnu) or musl.
# check TABLE LIBC IR: checks how the pass has rewritten each of these calls.

import re
import sys

TYPES = {"v": "void", "p": "ptr", "z": "i64", "i": "i32", "b": "i1"}
RULES = ("RELEASE", "WAIT", "CREATE", "UNLOAD", "MAP", "KIND", "ATTRIBUTE")


def table(path):
    rows = [line.split() for line in open(path)]
    return [tuple(r) for r in rows if r and r[0] in RULES]


def compare(path, hooks):
    text = re.sub(r"//[^\n]*", "", open(hooks).read())
    found = []
    for rule, args in re.findall(r"^MPROF_(\w+)\(([^)]*)\)", text, re.M):
        rule = rule.removesuffix("_OUTSIDE").removesuffix("_URING")
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
        thread = "p" if libc == "musl" else "z"
        self.proto = row[2].replace("t", thread)
        self.is_switched = self.rule in ("RELEASE", "WAIT")
        self.only_maps = self.rule == "MAP" and row[3] == "-1"
        # The number of a kind of waits. All releases have the same number.
        self.kind = kinds.index(row[3]) if self.rule == "WAIT" else len(kinds)
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

WAYS = ("plain", "cold", "tsan", "invoke", "tail", "musttail", "ignored")


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
    if way in ("tail", "musttail"):
        return "%s {\n  %s%s %s\n  %s\n}" % (head, got, way, f.call(callee), ret)
    return "%s {\n  %s%s\n  %s\n}" % (head, got, f.call(callee), ret)


def ways(f):
    # The caller of a musttail call with variable arguments must have them, too.
    return [w for w in WAYS if w != "musttail" or not f.variable]


def make(path, processor, libc):
    print('source_filename = "sites.c"')
    print('target triple = "%s-pc-linux-%s"' % (processor, libc))
    print("declare i32 @__gxx_personality_v0(...)")
    for f in functions(path, libc):
        print("declare " + f.declaration % f.symbol)
        for way in ways(f):
            print(site(f, way))


# --- the rewritten sites ---


# The offset of the field is_on in a switch.
SWITCH = "{ ptr, ptr, ptr, i32, i32 }"
ON_FIELD = "getelementptr inbounds (%s, ptr @__mprof_switch_%%s, i32 0, i32 4)" % SWITCH


def expected(f, way):
    """Returns (lines, calls): the first lines, and the callees of all calls."""
    own, entry = "@" + f.symbol, "@__mprof_" + f.symbol
    stub = "@__mprof_stub_" + f.symbol
    if way == "ignored" and (f.rule == "WAIT" or f.only_maps):
        return "", [f.call(own)]
    if not f.is_switched:
        return "", [f.call(entry)]
    if way != "tail":
        return "", [f.call(stub)]
    lines = """%1 = load i32, ptr {on}, align 4
%2 = icmp ne i32 %1, 0
br i1 %2, label %mprof.cold, label %mprof.fast""".format(on=ON_FIELD % f.symbol)
    return lines, [f.call("%3"), f.call(stub)]


def check_switch(f, text):
    """Checks the definition of the switch of f."""
    line = (
        "@__mprof_switch_{f} = linkonce_odr hidden externally_initialized global {type} "
        '{{ ptr @{f}, ptr @{f}, ptr @__mprof_{f}, i32 {kind}, i32 0 }}, section "mprof_switches", '
        "comdat, align 32\n"
    ).format(f=f.symbol, type=SWITCH, kind=f.kind)
    assert (line in text) == f.is_switched, "switch: expected %s" % line


def check_stub(f, text):
    """Checks that the stub of f does nothing but jump to the target of the switch."""
    pattern = (
        r"define linkonce_odr hidden {result} @__mprof_stub_{f}\([^\n]* comdat {{\n"
        r" +call void asm sideeffect \"[^\n]*"
        r"\(ptr (elementtype\(ptr\) )?@__mprof_switch_{f}\)\n +unreachable\n}}"
    ).format(f=f.symbol, result=f.result)
    assert bool(re.search(pattern, text)) == f.is_switched, "stub of " + f.symbol


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
        # Only a test that the entry is off may leave a tail call.
        if re.search(r"\bcall ", line) and found and way != "ignored":
            kind = r"notail" if way != "musttail" else "musttail"
            kind = r"tail" if way == "tail" and "%3" in line and f.is_switched else kind
            assert re.search(r"(^|= )%s call" % kind, line), line


def check(path, libc, ir):
    text = open(ir).read()
    text = re.sub(r"(, ![a-z]+ !\d+|,? ?; preds.*|(?<=\)) #\d+)", "", text)
    text = re.sub(r"\n +(to label)", r" \1", text)
    found = re.findall(r"^define \w+ @(\w+)\([^{]*{\n(.*?)^}", text, re.M | re.S)
    bodies = dict(found)
    count = 0
    for f in functions(path, libc):
        check_switch(f, text)
        check_stub(f, text)
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
