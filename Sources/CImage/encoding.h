// Profiles of colors that a file describes by a few numbers.

#ifndef CIMAGE_ENCODING_H
#define CIMAGE_ENCODING_H

#include <lcms2.h>

#include "CImage.h"

/// Creates the profile of an encoding. Returns NULL if the encoding is impossible or memory runs out.
cmsHPROFILE cimage_profile_of(cmsContext context, CImageColorEncoding encoding, CImageColorModel model);

#endif
