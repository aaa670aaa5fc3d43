# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints each stack of `mprof traces` or of a text profile in one line: the
# functions of a script as name:line, C for one or more functions of C, and
# P for one or more functions of other Python files.
# script: name of the script

function end() { if (stack != "") print stack; stack = "" }
function put(word) { if (stack !~ " " word "$") stack = stack " " word }
!/^    / { end(); next }
$NF ~ "^" script ":" { sub(/.*:/, "", $NF); stack = stack " " $(NF - 1) ":" $NF; next }
/\.py:[0-9]+$|<frozen / { put("P"); next }
{ put("C") }
END { end() }
