// The two ways to average pixels: as they are, and as linear light. A scaler owns the state of one of them.

#ifndef CIMAGE_SCALER_H
#define CIMAGE_SCALER_H

#include <stdbool.h>

#include "kernel.h"

/// The columns of a source row that the target needs: all of them unless the image is cropped.
typedef struct NeededColumns {
  /// The offset of the first sample, which belongs to an even column, and the number of samples.
  size_t first, count;
} NeededColumns;

/// The target of a resize, and the weights for it.
typedef struct Resize {
  CImageBitmap target;
  const CImageKernel *across, *down;
  NeededColumns columns;
} Resize;

/// Averages samples as they are, several target rows at a time. Needs all source rows of those at once.
typedef struct SampleScaler SampleScaler;
SampleScaler *cimage_sample_scaler_create(Resize resize);
void cimage_sample_scaler_destroy(SampleScaler *scaler);

/// Finishes all target rows for which the source rows from number `first` on suffice.
void cimage_sample_scaler_advance(SampleScaler *scaler, CImageBitmap rows, int32_t first);
/// Returns the number of the first source row that is still needed.
int32_t cimage_sample_scaler_first_row(const SampleScaler *scaler);

/// Averages linear light. Needs each source row only once.
typedef struct LightScaler LightScaler;
LightScaler *cimage_light_scaler_create(Resize resize);
void cimage_light_scaler_destroy(LightScaler *scaler);
void cimage_light_scaler_advance(LightScaler *scaler, CImageBitmap rows, int32_t first);
int32_t cimage_light_scaler_first_row(const LightScaler *scaler);

#endif
