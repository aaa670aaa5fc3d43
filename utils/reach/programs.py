# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that reach.py runs. A command is a text for bash. {run} stands
# before the program that is examined, and is empty, `mprof run ...` or
# `heaptrack ...`. The working directory has big.json, big.sql, words and page.c.

SERVER = """
start() {{ ({run} "$@") > server.log 2>&1 & }}
wait_for() {{ for i in $(seq 200); do test -S "$1" && return; sleep 0.05; done; }}
"""

PROGRAMS = {
    "sqlite3": "{run} sqlite3 :memory: '.read big.sql'",
    "python3": "{run} /usr/bin/python3 -c 'import json; "
    'd = [dict(a=i, b=str(i) * 3) for i in range(20000)]; print(len(json.dumps(d)))\'',
    "python3 threads": "{run} /usr/bin/python3 -c 'import queue, threading\n"
    "q = queue.Queue()\n"
    "def w():\n for i in range(2000): q.put(i)\n"
    "ts = [threading.Thread(target=w) for i in range(4)]\n"
    "[t.start() for t in ts]; [t.join() for t in ts]; print(q.qsize())'",
    "perl": "PERL_HASH_SEED=0 {run} perl -e 'my %h; $h{{$_}} = \"x\" x ($_ % 50) for 1..20000; "
    'my $s = 0; $s += length for values %h; print "$s\\n"\'',
    "git": "{run} git -C repository --no-pager log --stat -p",
    "jq": "{run} jq -c '[.[] | .a] | add' big.json",
    "gdb": "{run} gdb -q -nx -batch -ex 'info functions main' ./page",
    "lua": "{run} lua5.4 -e 'local t = {{}} for i = 1, 50000 do t[i] = {{i, tostring(i)}} end print(#t)'",
    "ruby": "{run} ruby --disable-gems -e 'puts (1..20000).map {{|i| i.to_s * 3}}.join.length; "
    "Thread.new {{ puts 1 }}.join'",
    "php": "{run} php -n -r '$a = []; for ($i = 0; $i < 20000; $i++) $a[] = str_repeat(\"x\", $i % 50); "
    "echo strlen(implode($a)), \"\\n\";'",
    "node": "{run} node -e 'const a = []; for (let i = 0; i < 20000; i++) a.push({{i}}); "
    "console.log(JSON.stringify(a).length)'",
    "gawk": "{run} gawk 'BEGIN {{ for (i = 0; i < 50000; i++) a[i] = i \"x\"; "
    "for (k in a) n += length(a[k]); print n }}'",
    "gcc": "{run} gcc -O2 -S -o - page.c",
    "clang": "{run} clang-19 -O2 -S -o - page.c",
    "xz": "{run} xz -T2 -kc big.json | md5sum",
    "zstd": "{run} zstd -T2 -qc big.json | md5sum",
    "openssl": "{run} openssl dgst -sha256 big.json",
    "sort": "{run} sort --parallel=2 words | md5sum",
    "make": "{run} make -s -f Makefile -j2",
    "ffmpeg": "{run} ffmpeg -v error -f lavfi -i testsrc=duration=1:size=160x120:rate=10 "
    "-threads 2 -f framemd5 -",
    "lighttpd": SERVER + "start lighttpd -D -f lighttpd.conf; wait_for l.sock; "
    "for i in $(seq 50); do curl -s --unix-socket l.sock http://x/words; done | md5sum; "
    "kill -TERM $(cat l.pid); wait; true",
    "redis": SERVER + "start redis-server --port 0 --unixsocket $PWD/r.sock --save ''; "
    "wait_for r.sock; redis-benchmark -s r.sock -n 20000 -c 10 -t set,get,lpush,lrange_100 "
    "> /dev/null; redis-cli -s r.sock llen mylist; redis-cli -s r.sock shutdown nosave; wait",
    "gtk": "xvfb-run -a bash -c '{run} zenity --info --text=hello --timeout=1'",
    "java": "{run} java -cp . Lines big.json",
    "nginx": SERVER + "start nginx -p $PWD -e nginx.log -c nginx.conf; wait_for n.sock; "
    "for i in $(seq 50); do curl -s --unix-socket n.sock http://x/words; done | md5sum; "
    "kill -QUIT $(cat n.pid); wait; true",
    "memcached": SERVER + "start memcached -u root -s m.sock -P $PWD/m.pid -t 2; wait_for m.sock; "
    "for i in $(seq 200); do printf 'set k%d 0 0 5\\r\\nhello\\r\\n' $i; done | "
    "curl -s --max-time 5 --unix-socket m.sock telnet://x -T - | sort | uniq -c & "
    "sleep 1; kill -TERM $(cat m.pid); wait",
    "vim": "{run} vim.tiny -es -u NONE -c '%s/1/one/g' -c '%print' -c 'q!' words | md5sum",
    "imagemagick": "{run} convert -size 300x300 gradient:red-blue -blur 0x4 rgb:- | md5sum",
    "graphviz": "{run} dot -Tsvg graph.dot",
    "gnuplot": "{run} gnuplot -e 'set terminal dumb; plot sin(x)'",
    "ghostscript": "{run} gs -q -dNOPAUSE -dBATCH -sDEVICE=pbmraw -sOutputFile=- page.ps | md5sum",
    "rsync": "{run} rsync -a --exclude .git repository/ copy && cat copy/* | md5sum; rm -r copy",
    "gpg": "{run} gpg --homedir . --print-md SHA512 big.json",
    "tcl": "{run} tclsh8.6 page.tcl",
    "guile": "{run} guile-3.0 --no-auto-compile -c '(display (apply + (map (lambda (i) (* i i)) "
    "(iota 20000)))) (usleep 300000)'",
    "ocaml": "{run} ocaml page.ml",
    "emacs": "{run} emacs -Q --batch --eval '(princ (length (mapconcat (function number-to-string) "
    '(number-sequence 1 20000) "")))\'',
    "cmake": "{run} cmake -P page.cmake",
    "lld": "{run} ld.lld-19 -shared -o linked.so page.o && md5sum < linked.so",
    "groff": "{run} groff -Tascii -man page.1",
    "xmllint": "{run} xmllint --format big.xml | md5sum",
    "swipl": "{run} swipl -g 'numlist(1, 20000, L), sum_list(L, S), write(S), nl' -t halt",
    "erlang": "{run} erl -noshell -eval 'io:format(\"~p~n\", "
    "[lists:sum([X * X || X <- lists:seq(1, 20000)])]), halt().'",
    "sbcl": "{run} sbcl --noinform --non-interactive --no-userinit --eval "
    "'(print (length (format nil \"~{{~a~}}\" (loop for i to 20000 collect i))))'",
    "luajit": "{run} luajit -e 'local t = {{}} for i = 1, 50000 do t[i] = {{i, tostring(i)}} end "
    "print(#t)'",
    "cppcheck": "{run} cppcheck -q --enable=all page.c",
    "R": "{run} R --vanilla --no-echo -e 'print(sum(sapply(1:20000, function(i) nchar(i))))'",
    "gfortran": "{run} gfortran -O2 -S -o - page.f90",
}

# Why heaptrack counts other blocks. Without a reason: it counts one block of its
# own, and not those that are allocated when it has ended, at the end of the
# process.
REASONS = {
    "python3 threads": "heaptrack records nothing",
    "gcc": "heaptrack does not follow the compiler's processes",
    "make": "heaptrack does not follow the commands",
}
