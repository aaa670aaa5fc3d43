#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for llvm-symbolizer: appends a line to the file $STARTS, and then
# runs $SYMBOLIZER. Without $SYMBOLIZER, it never answers.

echo started >> "$STARTS"
exec ${SYMBOLIZER:-sleep 1000} ${SYMBOLIZER:+"$@"}
