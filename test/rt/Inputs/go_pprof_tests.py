# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# go_pprof_tests.py GO PROGRAM: runs the tests of Go's own package net/http/pprof,
# from the sources of the installed Go, against the HTTP server of PROGRAM
# (go_pprof_app.c). In the copy of the tests, the handlers pass each request on to
# the HTTP server, and the functions that contend for locks run in PROGRAM.

import os
import re
import shutil
import subprocess
import sys

SHIM = """\
package pprof

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"
)

var (
	server    string
	mu      sync.Mutex
	stdin   io.Writer
	answers *bufio.Reader
)

var profileDescriptions = map[string]string{}

func init() {
	cmd := exec.Command(os.Getenv("PROGRAM"))
	cmd.Env = append(os.Environ(), "MPROF_OPTIONS=profile=0:report=0:mutex_fraction=1:block_rate=1:listen=127.0.0.1:0")
	stdin, _ = cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	messages, _ := cmd.StderrPipe()
	answers = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(messages).ReadString('\\n')
	server = strings.TrimSuffix(line[strings.LastIndex(line, " ")+1:len(line)-1], "/debug/pprof/")
	http.HandleFunc("/debug/pprof/", Index)
}

func Index(w http.ResponseWriter, r *http.Request) {
	resp, err := http.Get(server + r.URL.RequestURI())
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body)
}

var Cmdline, Profile, Symbol, Trace = Index, Index, Index, Index

func mutexHog1(mu1, mu2 *sync.Mutex, start time.Time, dt time.Duration) {}
func mutexHog2(mu1, mu2 *sync.Mutex, start time.Time, dt time.Duration) {}

func mutexHog(duration time.Duration, hogger func(mu1, mu2 *sync.Mutex, start time.Time, dt time.Duration)) {
	mu.Lock()
	defer mu.Unlock()
	name := runtime.FuncForPC(reflect.ValueOf(hogger).Pointer()).Name()
	fmt.Fprintln(stdin, name[len(name)-1:], duration.Milliseconds())
	answers.ReadString('\\n')
}
"""


def copy_tests(root, text):
    """Makes the copy from the text of pprof_test.go."""
    for name in ("mutexHog1", "mutexHog2", "mutexHog"):
        text, n = re.subn(r"^func %s\(.*?^}\n" % name, "", text, flags=re.M | re.S)
        assert n == 1, name
    text = text.replace('"internal/profile"', '"gotests/profile"')
    # Of the test's own helpers, only these two calls need Go's internal packages.
    text = re.sub(r"testenv\.\w+\(.*\)", 't.Skip("needs testenv")', text)
    text = text.replace('\t"internal/testenv"\n', "")
    # The rest of the file, behind the last test that runs here.
    end = text.find("// TestDeltaProfileEmptyBase")
    text = text[: end if end >= 0 else len(text)]
    for package in ("encoding/base64", "path/filepath", "sync/atomic", "sync"):
        if package.split("/")[-1] + "." not in text.split(")", 1)[1]:
            text = text.replace('\t"%s"\n' % package, "")
    os.makedirs("gotests/pprof")
    shutil.copytree(root + "/src/internal/profile", "gotests/profile", ignore=shutil.ignore_patterns("*_test.go"))
    version = re.match(r"go\d+\.(\d+)", open(root + "/VERSION").read()).group(1)
    open("gotests/go.mod", "w").write("module gotests\n\ngo 1.%s\n" % version)
    open("gotests/pprof/pprof.go", "w").write(SHIM)
    open("gotests/pprof/pprof_test.go", "w").write(text)


def main():
    go, program = sys.argv[1:]
    env = dict(os.environ, PROGRAM=os.path.abspath(program), GOTOOLCHAIN="local", GOPROXY="off", GOFLAGS="-mod=mod")
    root = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    copy_tests(root, open(root + "/src/net/http/pprof/pprof_test.go").read())
    p = subprocess.run(
        [go, "test", "-v", "-count=1", "-run", "TestHandlers|TestDeltaProfile$", "./pprof"],
        cwd="gotests",
        env=env,
        capture_output=True,
        text=True,
    )
    passed = re.findall(r"^ *--- PASS: (\S+)", p.stdout, re.M)
    if p.returncode != 0 or "TestDeltaProfile" not in passed or len(passed) < 10:
        sys.exit(p.stdout + p.stderr)


main()
