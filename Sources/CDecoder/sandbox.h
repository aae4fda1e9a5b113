// The sandbox, which closes before the first byte of an image is read.

#ifndef SANDBOX_H
#define SANDBOX_H

#include "CDecoder.h"

/// Puts files out of reach, except that `opens_fonts` leaves the fonts of the system readable, and gives up all
/// capabilities. Returns the protections that hold, as bits of `DecodeProtection`. If there is another thread, neither
/// Landlock nor namespaces are used: that thread would not have them. Threads that start later inherit them.
uint32_t close_files(bool opens_fonts);

/// Closes the rest of the sandbox, for all threads. Returns the protections that hold, `protections` included.
uint32_t close_sandbox(bool opens_fonts, const DecoderSettings *settings, uint32_t protections);

/// Returns true if these protections are enough for hostile images: files and the network are out of reach.
bool is_enough(uint32_t protections);

/// Makes a library that ends the process for lack of memory end it with the status `ENOMEM`.
void report_exhaustion(void);

/// Forbids the system calls that no library needs, except those that open fonts if `opens_fonts`. Returns true if that
/// holds from now on.
bool filter_system_calls(bool opens_fonts);

/// Returns true if this program was built with libseccomp, which `filter_system_calls` needs.
bool has_filter(void);

#endif
