# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme_block.py FILE NAME: prints the code block that follows the comment
# "<!-- example: NAME -->", without its indentation.

import re
import sys
import textwrap

found = re.search(
    r"<!-- example: %s -->\n *```\w*\n(.*?)\n *```\n" % re.escape(sys.argv[2]),
    open(sys.argv[1]).read(),
    re.S,
)
if not found:
    sys.exit("no example '%s' in %s" % (sys.argv[2], sys.argv[1]))
print(textwrap.dedent(found.group(1)))
