// Reads the entropy-coded bytes of a JPEG scan as bits.

#ifndef CIMAGE_JPEG_SEGMENT_H
#define CIMAGE_JPEG_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  /// More bytes than one MCU can have. Its ten blocks or fewer have 64 symbols at most, each with a code of up to 16
  /// bits and a value of up to 11.
  mcuBytes = 10 * 64 * 27 / 8 + 8,
  /// The bytes that are copied at a time, few enough that they stay in the cache of the processor.
  windowBytes = 16 << 10,
};

/// The position in the bytes of a window.
typedef struct BitReader {
  /// The first byte of which no bit is counted in `count`.
  const uint8_t *next;
  /// The next bits, of which the first `count`, at the top, are valid.
  uint64_t bits;
  unsigned count;
} BitReader;

/// The bytes from one restart marker to the next, a part of which are copied at a time to a window without the zeros
/// that are inserted after each byte 0xFF.
typedef struct Segment {
  BitReader reader;
  /// The rest of the file.
  const uint8_t *rest, *fileEnd;
  /// The number of MCUs from one restart marker to the next; 0 without markers.
  unsigned interval;
  /// The number of MCUs before the next marker. Without markers, no scan has as many.
  unsigned untilRestart;
  /// The number of markers so far.
  unsigned restarts;
  /// The end of the bytes in the window.
  uint8_t *end;
  /// True if the window has the last bytes of the segment. `rest` then begins with the marker after it.
  bool isLast;
  /// The bytes, and the zeros that are read after the last of them. One MCU cannot get farther, and after each MCU the
  /// position is checked.
  uint8_t window[windowBytes + mcuBytes + 2 * sizeof(uint64_t)];
} Segment;

/// Begins the first segment of a scan, whose data begins at `rest`. The scan has a restart marker after every
/// `interval` MCUs, or none if that is 0.
void cimage_segment_begin(Segment *segment, const uint8_t *rest, const uint8_t *fileEnd, unsigned interval);

/// Begins the segment after the restart marker that must come next. Returns false if another marker or data does.
bool cimage_segment_restart(Segment *segment);

/// Copies more bytes to the window. All bytes that were read must have been in it.
void cimage_segment_fill(Segment *segment);

/// Returns the marker after the segment, with which `rest` begins then. Returns 0 if there is none, or if some bytes of
/// the segment are not read.
uint8_t cimage_segment_end(Segment *segment);

/// Returns false if the position is beyond the segment.
static inline bool segment_is_valid(const Segment *segment) {
  return 8 * (segment->end - segment->reader.next) + (ptrdiff_t)segment->reader.count >= 0;
}

/// Makes sure that the next MCU is in the window if it is in the segment. Returns false if the position is beyond the
/// segment.
static inline bool segment_advance(Segment *segment) {
  if (segment->end - segment->reader.next >= mcuBytes) return true;
  if (segment->isLast) return segment_is_valid(segment);
  cimage_segment_fill(segment);
  return true;
}

/// Makes at least 56 bits valid.
static inline void read_bits(BitReader *reader) {
  uint64_t bytes;
  memcpy(&bytes, reader->next, sizeof bytes);
  reader->bits |= __builtin_bswap64(bytes) >> reader->count;
  reader->next += (63 - reader->count) >> 3;
  reader->count |= 56;
}

/// Removes bits, at most as many as are valid.
static inline void drop_bits(BitReader *reader, unsigned count) {
  reader->bits <<= count;
  reader->count -= count;
}

#endif
