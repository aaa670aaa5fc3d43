#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for llvm-symbolizer: appends a line to the file $STARTS, and then
# runs $SYMBOLIZER. Without $SYMBOLIZER, it does not answer within any time limit,
# and then ends.

echo started >> "$STARTS"
exec ${SYMBOLIZER:-sleep 100} ${SYMBOLIZER:+"$@"}
