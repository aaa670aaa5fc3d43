# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes assets.c, which contains the script and the style sheet of HTML pages:
#   cmake -DOUT=DIR "-DSCRIPTS=a.js|b.js" -DSTYLE=x.css -P assets.cmake
# The assembler reads the files, because C compilers limit the length of strings.

# Sets out to the base64 of a SHA-256 in hexadecimal digits.
function(base64 hex out)
  set(digits
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  # 32 bytes and one 0 byte are 11 groups of 6 hexadecimal digits.
  set(text "")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}00" ${at} 6 part)
    math(EXPR bits "0x${part}")
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR digit "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 character)
      string(APPEND text "${character}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# Joins the files to one file, without their comments of whole lines, and appends
# its definition to the code.
function(add name)
  set(whole "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" text)
    string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")
    string(APPEND whole "${text}")
  endforeach()
  file(WRITE "${OUT}/html_${name}" "${whole}")
  file(SHA256 "${OUT}/html_${name}" hex)
  file(SIZE "${OUT}/html_${name}" size)
  base64(${hex} hash)
  set(code "${code}
__asm__(\".section .rodata\\n\"
        \".globl html_${name}\\n\"
        \"html_${name}: .incbin \\\"${OUT}/html_${name}\\\"\\n\"
        \".byte 0\\n\"
        \".previous\\n\");
const size_t html_${name}_size = ${size};
const char html_${name}_hash[] = \"${hash}\";
" PARENT_SCOPE)
endfunction()

set(code "// Made by assets.cmake.\n\n#include \"html/assets.h\"\n")
string(REPLACE "|" ";" SCRIPTS "${SCRIPTS}")
add(script ${SCRIPTS})
add(style ${STYLE})
file(WRITE "${OUT}/assets.c" "${code}")
