// The loop that receives requests.

#ifndef SESSION_H
#define SESSION_H

#include "CDecoder.h"

/// Serves requests until the renderer closes its end. Returns the status of the process.
int serve(int socket, const Format *const formats[DecodeFormatCount]);

/// Makes glibc keep some memory for the next image. By default, it gives most of it back to the system after each
/// image, and the page faults take a sixth of the time of JPEG XL.
void keep_memory(void);

/// Gives the system what an image has left beyond that.
void trim_memory(void);

#endif
