// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads numbers and strings from bytes, and never reads past their end. After a
// read past the end, isBad() is true and all further reads return 0 or "".

#ifndef MPROF_TOOLS_SYMBOLIZER_CURSOR_H
#define MPROF_TOOLS_SYMBOLIZER_CURSOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mprof {

// A range of bytes in the mapped file.
struct Bytes {
  const uint8_t *Data = nullptr;
  size_t Size = 0;
};

class Cursor {
  const uint8_t *Begin = nullptr, *P = nullptr, *End = nullptr;
  bool Bad = false;

  uint64_t fail() {
    Bad = true;
    P = End;
    return 0;
  }

public:
  Cursor() = default;
  // Begins at an offset, and ends at the end of the bytes.
  Cursor(Bytes B, uint64_t Offset = 0)
      : Begin(B.Data), P(B.Data), End(B.Data + B.Size) {
    skip(Offset);
  }

  bool isBad() const { return Bad; }
  bool atEnd() const { return P == End; }
  uint64_t offset() const { return static_cast<uint64_t>(P - Begin); }
  uint64_t left() const { return static_cast<uint64_t>(End - P); }

  // Ends the bytes Size bytes from here.
  void truncate(uint64_t Size) {
    if (Size > left())
      fail();
    else
      End = P + Size;
  }

  void skip(uint64_t Size) {
    if (Size > left())
      fail();
    else
      P += Size;
  }

  // Reads a little-endian number of Size bytes.
  uint64_t number(unsigned Size) {
    uint64_t V = 0;
    if (Size > sizeof(V) || Size > left())
      return fail();
    memcpy(&V, P, Size);
    P += Size;
    return V;
  }
  uint8_t u8() { return P == End ? static_cast<uint8_t>(fail()) : *P++; }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }

  uint64_t uleb() {
    uint64_t V = 0;
    for (unsigned Shift = 0; P != End; Shift += 7) {
      const uint8_t Byte = *P++;
      if (Shift < 64)
        V |= static_cast<uint64_t>(Byte & 0x7f) << Shift;
      if ((Byte & 0x80) == 0)
        return V;
    }
    return fail();
  }

  int64_t sleb() {
    uint64_t V = 0;
    for (unsigned Shift = 0; P != End;) {
      const uint8_t Byte = *P++;
      if (Shift < 64)
        V |= static_cast<uint64_t>(Byte & 0x7f) << Shift;
      Shift += 7;
      if ((Byte & 0x80) != 0)
        continue;
      if (Shift < 64 && (Byte & 0x40) != 0)
        V |= ~0ull << Shift;
      return static_cast<int64_t>(V);
    }
    return static_cast<int64_t>(fail());
  }

  // Reads a string that ends with a null byte.
  const char *string() {
    const void *Null = P == End ? nullptr : memchr(P, 0, left());
    if (Null == nullptr) {
      fail();
      return "";
    }
    const char *S = reinterpret_cast<const char *>(P);
    P = static_cast<const uint8_t *>(Null) + 1;
    return S;
  }
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_CURSOR_H
