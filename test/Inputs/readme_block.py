# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme_block.py FILE [--output] NAME: prints the code block that follows the
# comment "<!-- example: NAME -->", without its indentation. With --output it
# prints the block that follows "<!-- output: NAME -->".

import re
import sys
import textwrap

kind = "output" if sys.argv[2] == "--output" else "example"
name = sys.argv[-1]
found = re.search(
    r"<!-- %s: %s -->\n *```\w*\n(.*?)\n *```\n" % (kind, re.escape(name)),
    open(sys.argv[1]).read(),
    re.S,
)
if not found:
    sys.exit("no %s '%s' in %s" % (kind, name, sys.argv[1]))
print(textwrap.dedent(found.group(1)))
