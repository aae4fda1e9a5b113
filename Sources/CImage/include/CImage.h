/// Pixels in and out of JPEG and PNG, behind one small header.
///
/// Every function is synchronous and may run on any number of threads at once. It returns a status, writes only into
/// memory of its caller, and never jumps out, aborts or prints. What a library has to say ends up in `CImageMessages`.
/// Who parses headers, judges sizes and chooses geometry is the caller: here live only the loops over pixels.

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

/// How a call ended.
typedef enum CIMAGE_CLOSED CImageStatus {
  /// All of the result is there. There may be warnings.
  CImageStatusOK = 0,
  /// The bytes end before the picture does.
  CImageStatusTruncated,
  /// The bytes are damaged, or are not what the caller took them for.
  CImageStatusCorrupt,
  /// A variant of the format that the library does not decode.
  CImageStatusUnsupported,
  /// The file asks for more work or memory than it was given.
  CImageStatusLimit,
  /// The system has no memory left.
  CImageStatusOutOfMemory,
} CImageStatus;

/// Text for people. Both strings always end in NUL; fill the structure with zeros before a call.
typedef struct CImageMessages {
  /// Why the call failed, in the library's own words.
  char error[256];
  /// What was odd and did no harm: one line each, without repetition; the later ones are dropped when full.
  char warnings[768];
} CImageMessages;

/// A view of 8-bit interleaved pixels in memory of the caller.
typedef struct CImageBitmap {
  /// The first row.
  uint8_t *pixels;
  /// Size in pixels, each at least 1.
  int32_t width, height;
  /// Samples a pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. Alpha is straight unless said otherwise.
  int32_t channels;
  /// Bytes from one row to the next, at least `width * channels`.
  size_t stride;
} CImageBitmap;

// MARK: Colour

/// The colour model of samples that a profile describes.
typedef enum CIMAGE_CLOSED CImageColorModel {
  CImageColorModelGray = 1,
  CImageColorModelGrayAlpha = 2,
  CImageColorModelRGB = 3,
  CImageColorModelRGBA = 4,
  /// Adobe's inverted CMYK, where 255 is no ink; becomes RGB.
  CImageColorModelCMYK = 5,
} CImageColorModel;

/// A conversion from an ICC profile's colors to sRGB. Never changes: any number of threads may use one at once.
typedef struct CImageTransform CImageTransform;

/// Makes a conversion from `profile`; gray stays gray. `*transform` is NULL, with a warning, when the profile is broken
/// or describes another color model; NULL without one when there is nothing to convert, because it is sRGB's. Fails
/// only when there is no memory. The caller destroys the conversion.
CImageStatus cimage_transform_create(const uint8_t *profile, size_t count, CImageColorModel model,
                                     CImageTransform *_Nullable *_Nonnull transform, CImageMessages *messages);

/// Converts every pixel of `bitmap` in place. `bitmap` must have the transform's model, which must not be CMYK.
void cimage_transform_apply(const CImageTransform *transform, CImageBitmap bitmap);

/// Frees a conversion.
void cimage_transform_destroy(CImageTransform *_Nullable transform);

// MARK: Decoding

/// How a JPEG is to be decoded.
typedef struct CImageJPEGDecoding {
  /// The size that the caller read in the file's header, in pixels.
  int32_t width, height;
  /// 1, 2, 4 or 8: the picture is made this much smaller while its DCT blocks are decoded.
  int32_t shrink;
  /// Where the file begins in the bytes.
  size_t start;
  /// The most scans a progressive file may have. Those of a large picture are also limited in the blocks they pass.
  int32_t maxScans;
  /// The most bytes the library may hold for coefficients and rows.
  size_t maxMemory;
  /// Applied to CMYK pictures; without it ink is taken as ideal.
  const CImageTransform *_Nullable cmyk;
} CImageJPEGDecoding;

/// Decodes the first picture of a JPEG file into `bitmap`, which must be as large as the options say, divided by
/// `shrink` and rounded up, with 1 channel for gray files and 3 for all others (CMYK and YCCK become RGB).
CImageStatus cimage_jpeg_decode(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageBitmap bitmap,
                                CImageMessages *messages);

/// One component of a picture that is kept in planes: luma, or one of two of chroma.
typedef struct CImagePlane {
  /// One channel. Rows may be longer than the picture: padding is not counted in the size.
  CImageBitmap samples;
  /// Pixels of the whole picture from one sample to the next.
  double stepAcross, stepDown;
} CImagePlane;

/// Bytes that hold the planes of any JPEG file decoded with such options.
size_t cimage_jpeg_planes_bound(CImageJPEGDecoding options);

/// Decodes the first picture of a JPEG file as it is kept there, into luma and two planes of chroma, each as dense as
/// the file has it, divided by `shrink`; chroma that is sparser than luma is made less small. `planes` point into
/// `room`, which has at least `cimage_jpeg_planes_bound` bytes. Unsupported where the file keeps its colours otherwise.
CImageStatus cimage_jpeg_decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, uint8_t *room,
                                       CImagePlane planes[_Nonnull 3], CImageMessages *messages);

/// Room for an ICC profile found while decoding.
typedef struct CImageProfileRoom {
  /// Memory of the caller, or NULL when profiles do not matter.
  uint8_t *_Nullable bytes;
  /// Its size. A larger profile is ignored with a warning.
  size_t capacity;
  /// How much of it was filled; 0 when there is no profile.
  size_t count;
} CImageProfileRoom;

/// Decodes a PNG file into `bitmap`, which must be as large as its header says. 16-bit samples are rounded to 8,
/// palettes become RGB, missing alpha becomes opaque, and a lone gAMA chunk is evened out to sRGB. What the picture data
/// has behind the last row is not read, but for the first few kilobytes.
CImageStatus cimage_png_decode(const uint8_t *bytes, size_t count, CImageBitmap bitmap, CImageProfileRoom *profile,
                               CImageMessages *messages);

// MARK: Pixels

/// How neighbouring pixels are weighed when a picture is scaled.
typedef enum CIMAGE_CLOSED CImageFilter {
  /// Lanczos, three lobes: the sharpest.
  CImageFilterLanczos3,
  /// Mitchell and Netravali's cubic, B = C = 1/3: softer, with hardly any ringing.
  CImageFilterMitchell,
  /// Catmull-Rom's cubic, B = 0, C = 1/2: between the two.
  CImageFilterCubic,
  /// The plain mean of the pixels covered.
  CImageFilterBox,
} CImageFilter;

/// The weights of a resize in one direction. Never changes: any number of threads may use one at once.
typedef struct CImageKernel CImageKernel;

/// Weights of `filter` for `targetCount` samples that cover `start` to `end` of `sourceCount` samples; both may reach
/// past the edge by part of a sample. NULL when there is no memory. The caller destroys it.
CImageKernel *_Nullable cimage_kernel_create(CImageFilter filter, int32_t sourceCount, double start, double end,
                                             int32_t targetCount);

/// Frees a kernel.
void cimage_kernel_destroy(CImageKernel *_Nullable kernel);

/// Fills `target` from `source`. `across` is made for their widths, `down` for their heights. Channels must be equal;
/// alpha, if any, must be premultiplied.
CImageStatus cimage_resize(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                           CImageBitmap target);

/// The same in linear light: sRGB samples are mixed as the light they stand for. Alpha, if any, must be straight, and
/// is so in `target`.
CImageStatus cimage_resize_linear(CImageBitmap source, const CImageKernel *across, const CImageKernel *down,
                                  CImageBitmap target);

/// Fills `target` with the means of two by two samples of `source`, of one channel. Its sides are half as long, rounded
/// down; nothing happens where one of them is none.
void cimage_halve(CImageBitmap source, CImageBitmap target);

/// Fills `target` with `source` as an EXIF orientation (1 to 8) wants it seen. For 5 to 8 `target` has width and
/// height exchanged.
void cimage_orient(CImageBitmap source, int32_t orientation, CImageBitmap target);

/// Fills `target`, of 3 channels, with the RGB of luma and two planes of chroma, each as large as it (JFIF 1.02).
void cimage_mix_planes(const CImageBitmap planes[_Nonnull 3], CImageBitmap target);

/// Multiplies colour with alpha, in place. Returns 1 when every pixel is opaque, 0 otherwise.
int32_t cimage_premultiply(CImageBitmap bitmap);

/// Divides colour by alpha, in place. Fully transparent pixels become transparent black.
void cimage_unpremultiply(CImageBitmap bitmap);

/// Draws `source`, with straight alpha or without, onto `target` at a corner inside it. A target with alpha takes
/// over the pixels; one without shows through where `source` is transparent. Gray may be drawn onto RGB.
void cimage_draw(CImageBitmap source, CImageBitmap target, int32_t left, int32_t top);

/// Sets every pixel to the first `channels` samples of `sample`.
void cimage_fill(CImageBitmap bitmap, const uint8_t *sample);

// MARK: Encoding

/// The order in which a JPEG file tells its picture.
typedef enum CIMAGE_CLOSED CImageJPEGScans {
  /// From top to bottom.
  CImageJPEGScansBaseline,
  /// From coarse to fine.
  CImageJPEGScansProgressive,
} CImageJPEGScans;

/// How a JPEG is to be encoded.
typedef struct CImageJPEGEncoding {
  /// 1 to 100.
  int32_t quality;
  /// Colour samples a pixel side: 1 keeps all of them (4:4:4), 2 keeps one for each 2x2 pixels (4:2:0).
  int32_t chromaStep;
  CImageJPEGScans scans;
} CImageJPEGEncoding;

/// Bytes that hold any JPEG or PNG file made of such a bitmap here.
size_t cimage_encoded_bound(CImageBitmap bitmap);

/// Encodes 1 or 3 channels as a JPEG with optimised Huffman tables and no metadata.
/// `*written` is the size of the file; `capacity` is at least `cimage_encoded_bound`.
CImageStatus cimage_jpeg_encode(CImageBitmap bitmap, CImageJPEGEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages);

/// The same for a picture in planes: luma, and two of chroma that are as large, divided by `chromaStep` and rounded up.
CImageStatus cimage_jpeg_encode_planes(const CImageBitmap planes[_Nonnull 3], CImageJPEGEncoding options, uint8_t *file,
                                       size_t capacity, size_t *written, CImageMessages *messages);

/// Encodes 1 to 4 channels as PNG, without metadata, in the smallest form that is exact: as gray where all pixels are,
/// without alpha where all are opaque, with a palette where there are at most 256 colours and it makes the file smaller.
CImageStatus cimage_png_encode(CImageBitmap bitmap, uint8_t *file, size_t capacity, size_t *written,
                               CImageMessages *messages);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
