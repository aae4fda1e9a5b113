// The loop that receives requests.

#ifndef SESSION_H
#define SESSION_H

#include "CDecoder.h"

/// Serves requests until the renderer closes its end. Returns the status of the process.
int serve(int socket, const Format *const formats[DecodeFormatCount]);

#endif
