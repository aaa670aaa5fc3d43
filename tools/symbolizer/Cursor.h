// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads numbers and strings from bytes, and never reads past their end. After a
// read past the end, isBad() is true and all further reads return 0 or "".

#ifndef MPROF_TOOLS_SYMBOLIZER_CURSOR_H
#define MPROF_TOOLS_SYMBOLIZER_CURSOR_H

#include "Inflater.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mprof {

// A range of bytes in the mapped file, or of a section that is compressed in
// the file.
struct Bytes {
  const uint8_t *Data = nullptr;
  size_t Size = 0;
  // Not nullptr: Data is the start of a compressed section. Its bytes must be
  // fetched before they are read; a cursor does this.
  Inflater *Source = nullptr;
};

// MayFetch: the bytes may be of a compressed section. A cursor over bytes that
// can all be read is faster.
template <bool MayFetch> class CursorOf {
  // The bytes from P to Ready can be read. Ready is at most End. It is less
  // only in a compressed section.
  const uint8_t *Begin = nullptr, *P = nullptr, *Ready = nullptr,
                *End = nullptr;
  Inflater *Source = nullptr;
  bool Bad = false;

  template <bool> friend class CursorOf;

  uint64_t fail() {
    Bad = true;
    P = Ready = End;
    return 0;
  }

  // Makes the next Size bytes readable. Returns false if there are not so many.
  bool fetch(uint64_t Size) {
    if (Size > left() || Source == nullptr || !Source->fetch(offset() + Size))
      return false;
    Ready = Begin + std::min(Source->ready(), static_cast<size_t>(End - Begin));
    return true;
  }
  bool has(uint64_t Size) {
    if constexpr (MayFetch)
      return Size <= static_cast<uint64_t>(Ready - P) || fetch(Size);
    return Size <= left();
  }

public:
  CursorOf() = default;
  // Begins at an offset, and ends at the end of the bytes.
  CursorOf(Bytes B, uint64_t Offset = 0)
      : Begin(B.Data), P(B.Data), Ready(B.Data + B.Size), End(B.Data + B.Size),
        Source(B.Source) {
    if (Source != nullptr)
      Ready = Begin + std::min(Source->ready(), B.Size);
    skip(Offset);
  }

  // Returns a cursor over the rest of the bytes, and makes them readable.
  CursorOf<false> plain() {
    CursorOf<false> C;
    if (!has(left()))
      fail();
    C.Begin = Begin;
    C.P = P;
    C.Ready = C.End = End;
    C.Bad = Bad;
    return C;
  }

  bool isBad() const { return Bad; }
  bool atEnd() const { return P == End; }
  uint64_t offset() const { return static_cast<uint64_t>(P - Begin); }
  uint64_t left() const { return static_cast<uint64_t>(End - P); }

  // Ends the bytes Size bytes from here.
  void truncate(uint64_t Size) {
    if (Size > left()) {
      fail();
      return;
    }
    End = P + Size;
    Ready = std::min(Ready, End);
  }

  void skip(uint64_t Size) {
    if (!has(Size))
      fail();
    else
      P += Size;
  }

  // Reads a little-endian number of Size bytes.
  uint64_t number(unsigned Size) {
    uint64_t V = 0;
    if (Size > sizeof(V) || !has(Size))
      return fail();
    if (Ready - P >= static_cast<ptrdiff_t>(sizeof(V)) && Size != 0) {
      memcpy(&V, P, sizeof(V));
      V &= ~uint64_t{0} >> (64 - 8 * Size);
    } else {
      for (unsigned I = 0; I < Size; I++)
        V |= static_cast<uint64_t>(P[I]) << 8 * I;
    }
    P += Size;
    return V;
  }
  uint8_t u8() { return has(1) ? *P++ : static_cast<uint8_t>(fail()); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }

  uint64_t uleb() {
    uint64_t V = 0;
    if (has(1) && *P < 0x80)
      return *P++;
    for (unsigned Shift = 0; has(1); Shift += 7) {
      const uint8_t Byte = *P++;
      if (Shift < 64)
        V |= static_cast<uint64_t>(Byte & 0x7f) << Shift;
      if ((Byte & 0x80) == 0)
        return V;
    }
    return fail();
  }

  void skipLeb() {
    while (has(1))
      if (*P++ < 0x80)
        return;
    fail();
  }

  int64_t sleb() {
    uint64_t V = 0;
    for (unsigned Shift = 0; has(1);) {
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
    for (size_t Known = 0; has(Known + 1);) {
      const auto Size = static_cast<size_t>(Ready - P);
      const void *Null = memchr(P + Known, 0, Size - Known);
      if (Null != nullptr) {
        const char *S = reinterpret_cast<const char *>(P);
        P = static_cast<const uint8_t *>(Null) + 1;
        return S;
      }
      Known = Size;
    }
    fail();
    return "";
  }
};

using Cursor = CursorOf<true>;
using PlainCursor = CursorOf<false>;

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_CURSOR_H
