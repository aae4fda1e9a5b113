#include "segment.h"

#include <limits.h>

#include "headers.h"

/// Copies bytes up to the next 0xFF, at most `room`. Returns the end of the copy.
static uint8_t *copy_plain(Segment *segment, uint8_t *out, size_t room) {
  size_t left = (size_t)(segment->fileEnd - segment->rest), most = left < room ? left : room;
  const uint8_t *stop = memchr(segment->rest, 0xFF, most);
  size_t count = stop != NULL ? (size_t)(stop - segment->rest) : most;
  memcpy(out, segment->rest, count);
  segment->rest += count;
  return out + count;
}

/// Copies bytes until the window is full or a marker, or the end of the file, follows.
static uint8_t *copy(Segment *segment, uint8_t *out) {
  uint8_t *full = segment->window + windowBytes;
  while (out < full) {
    out = copy_plain(segment, out, (size_t)(full - out));
    if (out == full) break;
    // Here is 0xFF or the end of the file. FF FF 00 is left to libjpeg-turbo, whose result depends on the position in
    // its buffer.
    segment->isLast = segment->fileEnd - segment->rest < 2 || segment->rest[1] != 0;
    if (segment->isLast) break;
    *out++ = 0xFF;
    segment->rest += 2;
  }
  return out;
}

void cimage_segment_fill(Segment *segment) {
  size_t kept = (size_t)(segment->end - segment->reader.next);
  memmove(segment->window, segment->reader.next, kept);
  segment->reader.next = segment->window;
  segment->end = copy(segment, segment->window + kept);
  memset(segment->end, 0, sizeof segment->window - windowBytes);
}

static void begin(Segment *segment) {
  segment->reader = (BitReader){.next = segment->window};
  segment->untilRestart = segment->interval > 0 ? segment->interval : UINT_MAX;
  segment->end = segment->window;
  segment->isLast = false;
  cimage_segment_fill(segment);
}

void cimage_segment_begin(Segment *segment, const uint8_t *rest, const uint8_t *fileEnd, unsigned interval) {
  segment->rest = rest;
  segment->fileEnd = fileEnd;
  segment->interval = interval;
  segment->restarts = 0;
  begin(segment);
}

uint8_t cimage_segment_end(Segment *segment) {
  // Any number of 0xFF may come before a marker.
  while (segment->fileEnd - segment->rest > 2 && segment->rest[1] == 0xFF) segment->rest += 1;
  // Up to seven bits fill the last byte.
  ptrdiff_t left = 8 * (segment->end - segment->reader.next) + (ptrdiff_t)segment->reader.count;
  bool isRead = segment->isLast && left >= 0 && left < 8 && segment->fileEnd - segment->rest >= 2;
  return isRead ? segment->rest[1] : 0;
}

bool cimage_segment_restart(Segment *segment) {
  if (cimage_segment_end(segment) != markerRST0 + segment->restarts % 8) return false;
  segment->restarts += 1;
  segment->rest += 2;
  begin(segment);
  return true;
}
