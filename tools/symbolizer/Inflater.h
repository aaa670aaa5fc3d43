// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The content of a compressed section. The content is decompressed only up to
// the last byte that was fetched, because a whole section can take 30 ms, and
// the functions at the start of a program are near the start of a section.

#ifndef MPROF_TOOLS_SYMBOLIZER_INFLATER_H
#define MPROF_TOOLS_SYMBOLIZER_INFLATER_H

#include <cstddef>
#include <cstdint>

namespace mprof {

class Inflater {
  [[maybe_unused]] const uint8_t *const From;
  [[maybe_unused]] const size_t FromSize;
  uint8_t *const To; // memory for Size bytes
  const size_t Size;
  const unsigned Kind; // a constant ELFCOMPRESS_*
  size_t Ready = 0;    // number of bytes that are decompressed
  bool HasFailed = false;
  struct ZlibState;
  struct ZstdState;
  ZlibState *Zlib = nullptr;
  ZstdState *Zstd = nullptr;

  Inflater(const uint8_t *From, size_t FromSize, uint8_t *To, size_t Size,
           unsigned Kind)
      : From(From), FromSize(FromSize), To(To), Size(Size), Kind(Kind) {}
  bool runZlib(size_t Until);
  bool runZstd(size_t Until);

public:
  // Makes an object for a section with the flag SHF_COMPRESSED. Returns nullptr
  // if its compression is not known, or if there is not enough memory.
  static Inflater *make(const uint8_t *Section, size_t SectionSize);
  ~Inflater();
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;

  const uint8_t *data() const { return To; }
  size_t size() const { return Size; }
  size_t ready() const { return Ready; }
  // Decompresses the bytes before the offset End, and perhaps more. Returns
  // false if the section is damaged or has fewer bytes.
  bool fetch(uint64_t End);
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_INFLATER_H
