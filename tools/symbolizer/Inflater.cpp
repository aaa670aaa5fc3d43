// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompresses sections; see Inflater.h.

#include "Inflater.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>

#ifdef MPROF_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef MPROF_HAS_ZSTD
#include <zstd.h>
#endif

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

namespace mprof {

// A section of more bytes is damaged, or must be left to llvm-symbolizer.
static constexpr uint64_t SizeMax = 256 << 20;

Inflater *Inflater::make(const uint8_t *Section, size_t SectionSize) {
  Elf64_Chdr H;
  if (SectionSize < sizeof(H))
    return nullptr;
  memcpy(&H, Section, sizeof(H));
  bool IsKnown = false;
#ifdef MPROF_HAS_ZLIB
  IsKnown = IsKnown || H.ch_type == ELFCOMPRESS_ZLIB;
#endif
#ifdef MPROF_HAS_ZSTD
  IsKnown = IsKnown || H.ch_type == ELFCOMPRESS_ZSTD;
#endif
  if (!IsKnown || H.ch_size == 0 || H.ch_size > SizeMax)
    return nullptr;
  // Only the pages that are decompressed take memory.
  void *To = mmap(nullptr, H.ch_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (To == MAP_FAILED)
    return nullptr;
  return new Inflater(Section + sizeof(H), SectionSize - sizeof(H),
                      static_cast<uint8_t *>(To), H.ch_size, H.ch_type);
}

bool Inflater::fetch(uint64_t End) {
  // Many short steps would take longer than a few large ones.
  enum { Step = 16384 };
  if (End <= Ready)
    return true;
  if (End > Size || HasFailed)
    return false;
  const size_t Until = std::min(static_cast<size_t>(End) + Step, Size);
  HasFailed = !(Kind == ELFCOMPRESS_ZSTD ? runZstd(Until) : runZlib(Until));
  return !HasFailed;
}

#ifdef MPROF_HAS_ZLIB
struct Inflater::ZlibState {
  z_stream S = {};
};

bool Inflater::runZlib(size_t Until) {
  if (Zlib == nullptr) {
    if (FromSize > UINT32_MAX)
      return false;
    Zlib = new ZlibState;
    Zlib->S.next_in = const_cast<Bytef *>(From);
    Zlib->S.avail_in = static_cast<uInt>(FromSize);
    if (inflateInit(&Zlib->S) != Z_OK)
      return false;
  }
  z_stream &S = Zlib->S;
  S.next_out = To + Ready;
  S.avail_out = static_cast<uInt>(Until - Ready);
  const int Result = inflate(&S, Z_SYNC_FLUSH);
  Ready = Until - S.avail_out;
  return Ready == Until && (Result == Z_OK || Result == Z_STREAM_END);
}
#else
struct Inflater::ZlibState {};
bool Inflater::runZlib(size_t) { return false; }
#endif

#ifdef MPROF_HAS_ZSTD
struct Inflater::ZstdState {
  ZSTD_DStream *S = ZSTD_createDStream();
  ZSTD_inBuffer In = {};
};

bool Inflater::runZstd(size_t Until) {
  if (Zstd == nullptr) {
    Zstd = new ZstdState;
    Zstd->In = {From, FromSize, 0};
  }
  ZSTD_outBuffer Out = {To, Until, Ready};
  while (Zstd->S != nullptr && Out.pos < Until) {
    const size_t InBefore = Zstd->In.pos, OutBefore = Out.pos;
    if (ZSTD_isError(ZSTD_decompressStream(Zstd->S, &Out, &Zstd->In)) ||
        (Zstd->In.pos == InBefore && Out.pos == OutBefore))
      break;
  }
  Ready = Out.pos;
  return Ready == Until;
}
#else
struct Inflater::ZstdState {};
bool Inflater::runZstd(size_t) { return false; }
#endif

Inflater::~Inflater() {
#ifdef MPROF_HAS_ZLIB
  if (Zlib != nullptr)
    inflateEnd(&Zlib->S);
#endif
#ifdef MPROF_HAS_ZSTD
  if (Zstd != nullptr)
    ZSTD_freeDStream(Zstd->S);
#endif
  delete Zlib;
  delete Zstd;
  munmap(To, Size);
}

} // namespace mprof
