/// Decodes, resizes and encodes pixels of JPEG, PNG and WebP files behind one small header.
///
/// Every function is synchronous and may run on any number of threads at once. It returns a status, writes only into
/// memory owned by the caller, and never jumps out, aborts or prints. Library messages go to `CImageMessages`. Header
/// parsing, limits and geometry are the caller's job.

#ifndef CIMAGE_H
#define CIMAGE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define CIMAGE_CLOSED __attribute__((enum_extensibility(closed)))
#pragma clang assume_nonnull begin
#else
#define CIMAGE_CLOSED
#define _Nullable
#define _Nonnull
#endif

/// The result of a call.
typedef enum CIMAGE_CLOSED CImageStatus {
  /// The result is complete. There may be warnings.
  CImageStatusOK = 0,
  /// The bytes end before the image data does.
  CImageStatusTruncated,
  /// The bytes are corrupt, or do not match the caller's options.
  CImageStatusCorrupt,
  /// The library does not decode this variant of the format.
  CImageStatusUnsupported,
  /// The file needs more work or memory than the options allow.
  CImageStatusLimit,
  /// An allocation failed.
  CImageStatusOutOfMemory,
} CImageStatus;

/// Human-readable text. Zero the structure before a call; both strings are always NUL-terminated.
typedef struct CImageMessages {
  /// The library's own description of the failure.
  char error[256];
  /// Harmless oddities, one per line, without duplicates. Warnings that do not fit are dropped.
  char warnings[768];
} CImageMessages;

/// A view of 8-bit interleaved pixels in memory owned by the caller.
typedef struct CImageBitmap {
  /// The first row.
  uint8_t *pixels;
  /// The size in pixels. Each side is at least 1.
  int32_t width, height;
  /// Samples per pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. Alpha is straight unless stated otherwise.
  int32_t channels;
  /// Bytes from one row to the next, at least `width * channels`.
  size_t stride;
} CImageBitmap;

// MARK: Color

/// The color model of samples that a profile describes.
typedef enum CIMAGE_CLOSED CImageColorModel {
  CImageColorModelGray = 1,
  CImageColorModelGrayAlpha = 2,
  CImageColorModelRGB = 3,
  CImageColorModelRGBA = 4,
  /// Adobe's inverted CMYK, in which 255 is no ink. Converted to RGB.
  CImageColorModelCMYK = 5,
} CImageColorModel;

/// A conversion from an ICC profile's colors to sRGB. Immutable, so any number of threads may use one at once.
typedef struct CImageTransform CImageTransform;

/// Creates a conversion from `profile`; gray stays gray. Sets `*transform` to NULL if the profile is sRGB and nothing
/// needs conversion, and also, with a warning, if the profile is malformed or describes another color model. Fails only
/// with `CImageStatusOutOfMemory`. The caller destroys the conversion.
CImageStatus cimage_transform_create(const uint8_t *profile, size_t count, CImageColorModel model,
                                     CImageTransform *_Nullable *_Nonnull transform, CImageMessages *messages);

/// Converts every pixel of `bitmap` in place. `bitmap` must have the transform's model, which must not be CMYK.
void cimage_transform_apply(const CImageTransform *transform, CImageBitmap bitmap);

/// Destroys a conversion. Does nothing for NULL.
void cimage_transform_destroy(CImageTransform *_Nullable transform);

// MARK: Decoding

/// The options for decoding a JPEG file.
typedef struct CImageJPEGDecoding {
  /// The size in pixels that the caller read from the file's header.
  int32_t width, height;
  /// The factor by which the image is shrunk while its DCT blocks are decoded: 1, 2, 4 or 8.
  int32_t shrink;
  /// The maximum number of scans. Independently, the total number of blocks in all scans is limited.
  int32_t maxScans;
  /// The maximum number of bytes the library may allocate for coefficients and rows.
  size_t maxMemory;
  /// The conversion for CMYK images. If NULL, inks are assumed to be ideal.
  const CImageTransform *_Nullable cmyk;
} CImageJPEGDecoding;

/// Decodes the first image of a JPEG file into `bitmap`. Its size must be that of the options, divided by `shrink` and
/// rounded up, with 1 channel for gray files and 3 for all others (CMYK and YCCK become RGB).
CImageStatus cimage_jpeg_decode(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageBitmap bitmap,
                                CImageMessages *messages);

/// One component of a planar image: luma, or one of the two chroma planes.
typedef struct CImagePlane {
  /// The samples, in one channel. The stride includes padding that is not part of the image.
  CImageBitmap samples;
  /// Image pixels from one sample to the next.
  double stepAcross, stepDown;
} CImagePlane;

/// Returns the number of bytes that is enough for the planes of any JPEG file decoded with these options.
size_t cimage_jpeg_planes_bound(CImageJPEGDecoding options);

/// Decodes the first image of a JPEG file into its luma plane and two chroma planes, without color conversion. Each has
/// the resolution of the file divided by `shrink`; chroma that is sparser than luma is shrunk less. `planes` point into
/// `room`, which has at least `cimage_jpeg_planes_bound` bytes. Returns `CImageStatusUnsupported` if the file's color
/// space is not YCbCr.
CImageStatus cimage_jpeg_decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, uint8_t *room,
                                       CImagePlane planes[_Nonnull 3], CImageMessages *messages);

/// A buffer for an ICC profile found while decoding.
typedef struct CImageProfileRoom {
  /// Memory owned by the caller, or NULL to skip profiles.
  uint8_t *_Nullable bytes;
  /// The size of the buffer. A larger profile is ignored with a warning.
  size_t capacity;
  /// The size of the profile; 0 if there is none.
  size_t count;
} CImageProfileRoom;

/// Decodes a PNG file into `bitmap`, whose size must match the file's header. 16-bit samples are rounded to 8 bits,
/// palettes become RGB, missing alpha becomes opaque, and a gAMA chunk without sRGB or iCCP is converted to sRGB. Of
/// any image data after the last row, only the first few kilobytes are read.
CImageStatus cimage_png_decode(const uint8_t *bytes, size_t count, CImageBitmap bitmap, CImageProfileRoom *profile,
                               CImageMessages *messages);

/// Decodes the image data of a WebP file: an ALPH chunk, if there is one, and the `VP8 ` or `VP8L` chunk, without the RIFF
/// header. `width` and `height` are the size that the caller read; an image of another size is corrupt. `bitmap` has 3
/// channels, or 4 with alpha. If its size differs, the image is scaled by area averages while it is decoded. Exists only
/// if `CIMAGE_WEBP` is defined.
CImageStatus cimage_webp_decode(const uint8_t *bytes, size_t count, int32_t width, int32_t height, CImageBitmap bitmap,
                                CImageMessages *messages);

// MARK: Pixels

/// A resampling filter.
typedef enum CIMAGE_CLOSED CImageFilter {
  /// Lanczos with three lobes: the sharpest.
  CImageFilterLanczos3,
  /// The Mitchell-Netravali cubic, B = C = 1/3: softer, with hardly any ringing.
  CImageFilterMitchell,
  /// The Catmull-Rom cubic, B = 0, C = 1/2: between the two.
  CImageFilterCubic,
  /// The plain mean of the covered pixels.
  CImageFilterBox,
} CImageFilter;

/// The weights of a resize in one direction. Immutable, so any number of threads may use one at once.
typedef struct CImageKernel CImageKernel;

/// Creates the weights of `filter` for `targetCount` samples that cover `start` to `end` of `sourceCount` samples. Both
/// may extend past the edge by part of a sample. Returns NULL if memory runs out. The caller destroys the kernel.
CImageKernel *_Nullable cimage_kernel_create(CImageFilter filter, int32_t sourceCount, double start, double end,
                                             int32_t targetCount);

/// Destroys a kernel. Does nothing for NULL.
void cimage_kernel_destroy(CImageKernel *_Nullable kernel);

/// Resizes `source` to `target`. `across` must be made for their widths, `down` for their heights. The channels must be
/// equal, and alpha, if any, premultiplied.
CImageStatus cimage_resize(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                           CImageBitmap target);

/// Resizes `source` to `target` like `cimage_resize`, but averages linear light instead of sRGB samples. Alpha, if any,
/// must be straight and is straight in `target`.
CImageStatus cimage_resize_linear(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                                  CImageBitmap target);

/// Fills `target` with the means of 2 by 2 samples of `source`, which has one channel. The sides of `target` are half
/// those of `source`, rounded down; if one of them is 0, nothing is written.
void cimage_halve(CImageBitmap source, CImageBitmap target);

/// Fills `target` with `source` after applying an EXIF orientation (1 to 8). For 5 to 8, width and height of `target`
/// are swapped.
void cimage_orient(CImageBitmap source, int32_t orientation, CImageBitmap target);

/// Converts luma and two chroma planes to RGB (JFIF 1.02). `target` has 3 channels and the size of each plane.
void cimage_mix_planes(const CImageBitmap planes[_Nonnull 3], CImageBitmap target);

/// Multiplies color by alpha, in place. Returns 1 if every pixel is opaque, 0 otherwise.
int32_t cimage_premultiply(CImageBitmap bitmap);

/// Divides color by alpha, in place. Fully transparent pixels become transparent black.
void cimage_unpremultiply(CImageBitmap bitmap);

/// Draws `source`, with straight alpha or none, onto `target` with its upper left corner at `left`, `top`; it must fit.
/// A target with alpha is overwritten; one without shows through where `source` is transparent. Gray may be drawn onto
/// RGB.
void cimage_draw(CImageBitmap source, CImageBitmap target, int32_t left, int32_t top);

/// Sets every pixel to the first `channels` samples of `sample`.
void cimage_fill(CImageBitmap bitmap, const uint8_t *sample);

// MARK: Encoding

/// The scan order of a JPEG file.
typedef enum CIMAGE_CLOSED CImageJPEGScans {
  /// From top to bottom.
  CImageJPEGScansBaseline,
  /// From coarse to fine.
  CImageJPEGScansProgressive,
} CImageJPEGScans;

/// The options for encoding a JPEG file.
typedef struct CImageJPEGEncoding {
  /// The quality, 1 to 100.
  int32_t quality;
  /// Pixels per chroma sample in each direction: 1 keeps every sample (4:4:4), 2 keeps one per 2 by 2 pixels (4:2:0).
  int32_t chromaStep;
  CImageJPEGScans scans;
} CImageJPEGEncoding;

/// Returns the number of bytes that is enough for any JPEG or PNG file encoded from this bitmap.
size_t cimage_encoded_bound(CImageBitmap bitmap);

/// Encodes 1 or 3 channels as a JPEG file with optimized Huffman tables and no metadata. `capacity` must be at least
/// `cimage_encoded_bound`. Sets `*written` to the size of the file.
CImageStatus cimage_jpeg_encode(CImageBitmap bitmap, CImageJPEGEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages);

/// Encodes a planar image as a JPEG file like `cimage_jpeg_encode`. The two chroma planes have the size of the luma
/// plane divided by `chromaStep` and rounded up; `capacity` must be at least 3 times the bound of the luma plane.
CImageStatus cimage_jpeg_encode_planes(const CImageBitmap planes[_Nonnull 3], CImageJPEGEncoding options, uint8_t *file,
                                       size_t capacity, size_t *written, CImageMessages *messages);

/// Encodes 1 to 4 channels as a PNG file without metadata, in the smallest lossless form: gray if all pixels are gray,
/// without alpha if all are opaque, and with a palette if at most 256 colors occur and that makes the file smaller.
CImageStatus cimage_png_encode(CImageBitmap bitmap, uint8_t *file, size_t capacity, size_t *written,
                               CImageMessages *messages);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
