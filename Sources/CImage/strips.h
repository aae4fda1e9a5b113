// Strips: the rows that a decoder passes on together.

#ifndef CIMAGE_STRIPS_H
#define CIMAGE_STRIPS_H

/// The number of rows of a strip of pixels, few enough that they stay in the cache of the processor.
enum { stripRows = 16 };

#endif
