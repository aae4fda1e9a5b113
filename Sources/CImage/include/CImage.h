/// Decodes, resizes and encodes pixels of JPEG, PNG, WebP and GIF files behind one small header.
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

// MARK: Libraries

/// The name and the version of a library.
typedef struct CImageLibrary {
  char name[16];
  char version[16];
} CImageLibrary;

/// Describes the library at `index`, from 0, among those that decode, encode and convert images. Versions are those in
/// use, except of libjpeg and libdeflate, which report only that of their headers. Returns 0 if there is no such
/// library, and 1 otherwise.
int32_t cimage_library(int32_t index, CImageLibrary *library);

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

/// The colors that samples are converted to. Both have the white and the curve of sRGB.
typedef enum CIMAGE_CLOSED CImageTarget {
  /// IEC 61966-2-1.
  CImageTargetSRGB,
  /// Display P3: the primaries of SMPTE EG 432-1.
  CImageTargetDisplayP3,
} CImageTarget;

/// A conversion from an ICC profile's colors to those of a target. Immutable, so any number of threads may use one at
/// once.
typedef struct CImageTransform CImageTransform;

/// Creates a conversion from `profile`; gray stays gray. Sets `*transform` to NULL if the profile is that of the target
/// and nothing needs conversion, and also, with a warning, if it is malformed or describes another color model. Fails
/// only with `CImageStatusOutOfMemory`. The caller destroys the conversion.
CImageStatus cimage_transform_create(const uint8_t *profile, size_t count, CImageColorModel model, CImageTarget target,
                                     CImageTransform *_Nullable *_Nonnull transform, CImageMessages *messages);

/// Returns 1 if the source of a conversion to sRGB may have RGB colors that sRGB lacks, and 0 otherwise.
int32_t cimage_transform_loses_colors(const CImageTransform *transform);

/// The relation between samples and light.
typedef enum CIMAGE_CLOSED CImageCurve {
  /// Light is the sample to the power of a number.
  CImageCurvePower,
  /// The curve of sRGB (IEC 61966-2-1).
  CImageCurveSRGB,
  /// The curve of television (ITU-R BT.709-6, item 1.2).
  CImageCurveTelevision,
  /// The two curves of high dynamic range: PQ and HLG (ITU-R BT.2100-2). White at 203 cd/m2 stays light, and brighter
  /// light is compressed.
  CImageCurvePQ,
  CImageCurveHLG,
} CImageCurve;

/// A chromaticity: x and y of CIE 1931.
typedef struct CImageChromaticity {
  double x, y;
} CImageChromaticity;

/// The meaning of RGB samples, or if all are equal, of gray samples.
typedef struct CImageColorEncoding {
  CImageChromaticity white, red, green, blue;
  CImageCurve curve;
  /// The exponent of a power.
  double exponent;
} CImageColorEncoding;

/// Creates a conversion like `cimage_transform_create`, but from an encoding without a profile. `model` is not CMYK.
CImageStatus cimage_transform_create_encoded(CImageColorEncoding encoding, CImageColorModel model, CImageTarget target,
                                             CImageTransform *_Nullable *_Nonnull transform, CImageMessages *messages);

/// Converts every pixel of `bitmap` in place. `bitmap` must have the transform's model, which must not be CMYK.
void cimage_transform_apply(const CImageTransform *transform, CImageBitmap bitmap);

/// Converts luma and two chroma planes in place. The chroma planes have the size of the luma plane, or half of it
/// rounded up; each of their samples belongs to all pixels that it covers. The conversion's model must be RGB. Fails
/// only with `CImageStatusOutOfMemory`.
CImageStatus cimage_transform_apply_planes(const CImageTransform *transform, const CImageBitmap planes[_Nonnull 3]);

/// Destroys a conversion. Does nothing for NULL.
void cimage_transform_destroy(CImageTransform *_Nullable transform);

// MARK: Decoding

/// A part of an image or plane: the columns from `left` to before `right`, and the rows from `top` to before `bottom`.
typedef struct CImageArea {
  int32_t left, top, right, bottom;
} CImageArea;

/// Receives the rows of an image from its decoder, from top to bottom.
typedef struct CImageRowSink {
  void *_Nullable context;
  /// Returns the part of a plane that is needed. Samples in other columns may be undefined, and other rows may be
  /// passed to `skip`. Called once per plane before the first rows; `plane` is 0 for pixels.
  CImageArea (*needed)(void *_Nullable context, int32_t plane);
  /// Omits the next rows of each plane, as many as `counts` says.
  void (*skip)(void *_Nullable context, const int32_t *counts);
  /// Takes the next rows: one bitmap, or for luma and chroma planes three of them, any of which may have no rows. The
  /// rows are valid only during the call, which must not change them. A status other than OK ends the decoding, which
  /// then returns it.
  CImageStatus (*take)(void *_Nullable context, const CImageBitmap *rows);
} CImageRowSink;

/// The options for decoding a JPEG file.
typedef struct CImageJPEGDecoding {
  /// The size in pixels that the caller read from the file's header.
  int32_t width, height;
  /// The channels that the caller expects: 1 for gray files and 3 for all others (CMYK and YCCK become RGB).
  int32_t channels;
  /// The factor by which the image is shrunk while its DCT blocks are decoded: 1, 2, 4 or 8.
  int32_t shrink;
  /// The maximum number of scans. Independently, the total number of blocks in all scans is limited.
  int32_t maxScans;
  /// The maximum number of bytes the library may allocate for coefficients and rows.
  size_t maxMemory;
  /// The conversion for CMYK images. If NULL, inks are assumed to be ideal.
  const CImageTransform *_Nullable cmyk;
} CImageJPEGDecoding;

/// Decodes the first image of a JPEG file. Its size is that of the options, divided by `shrink` and rounded up.
CImageStatus cimage_jpeg_decode(const uint8_t *bytes, size_t count, CImageJPEGDecoding options, CImageRowSink sink,
                                CImageMessages *messages);

/// The size and the resolution of luma, or of one of the two chroma planes.
typedef struct CImagePlane {
  /// The number of samples.
  int32_t width, height;
  /// Image pixels from one sample to the next.
  double stepAcross, stepDown;
} CImagePlane;

/// Receives a planar image from its decoder.
typedef struct CImagePlaneSink {
  /// Called once, before the first rows.
  CImageStatus (*begin)(void *_Nullable context, const CImagePlane planes[_Nonnull 3]);
  CImageRowSink rows;
} CImagePlaneSink;

/// Decodes the first image of a JPEG file into its luma plane and two chroma planes, without color conversion. Each has
/// the resolution of the file divided by `shrink`; chroma that is sparser than luma is shrunk less. Returns
/// `CImageStatusUnsupported`, before any call of `sink`, if the file's color space is not YCbCr.
CImageStatus cimage_jpeg_decode_planes(const uint8_t *bytes, size_t count, CImageJPEGDecoding options,
                                       CImagePlaneSink sink, CImageMessages *messages);

/// The options for decoding a PNG file.
typedef struct CImagePNGDecoding {
  /// The size in pixels that the caller read from the file's header.
  int32_t width, height;
  /// The channels of the rows: those of the file, or one more for alpha.
  int32_t channels;
  /// The gamma of the file, 0.1 to 10, from which samples are converted to sRGB; 0 if they need no conversion.
  double gamma;
} CImagePNGDecoding;

/// Decodes a PNG file. 16-bit samples are rounded to 8 bits, palettes become RGB, and missing alpha becomes opaque. Of
/// any image data after the last row, only the first few kilobytes are read. Interlaced files are passed to `sink` as a
/// whole.
CImageStatus cimage_png_decode(const uint8_t *bytes, size_t count, CImagePNGDecoding options, CImageRowSink sink,
                               CImageMessages *messages);

/// A buffer for an ICC profile.
typedef struct CImageProfileRoom {
  /// Memory owned by the caller, and its size. A larger profile is ignored with a warning.
  uint8_t *bytes;
  size_t capacity;
  /// The size of the profile; 0 if the file has none.
  size_t count;
} CImageProfileRoom;

/// Reads the ICC profile of a PNG file. Only the size is needed of the options.
CImageStatus cimage_png_read_profile(const uint8_t *bytes, size_t count, CImagePNGDecoding options,
                                     CImageProfileRoom *profile, CImageMessages *messages);

/// Decodes the image data of a WebP file: an ALPH chunk, if there is one, and the `VP8 ` or `VP8L` chunk, without the
/// RIFF header. `width` and `height` are the size that the caller read; an image of another size is corrupt. `bitmap`
/// has 3 channels, or 4 with alpha. If its size differs, the image is scaled by area averages while it is decoded. If
/// the data is damaged, only the rows before the damage are written.
/// Exists only if `CIMAGE_WEBP` is defined.
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

/// The quantity that a resize averages.
typedef enum CIMAGE_CLOSED CImageLight {
  /// Samples. Alpha, if any, must be premultiplied and is premultiplied in the target.
  CImageLightPerceptual,
  /// Linear light, converted from sRGB. Alpha, if any, must be straight and is straight in the target.
  CImageLightLinear,
} CImageLight;

/// A resize of one plane, which gets its source a few rows at a time.
typedef struct CImageScaler CImageScaler;

/// Creates a resize to `target`, whose channels are those of the source. `across` must be made for the widths of both,
/// `down` for the heights. The kernels and the pixels of the target must live until the caller destroys the scaler.
/// Returns NULL if memory runs out.
CImageScaler *_Nullable cimage_scaler_create(const CImageKernel *across, const CImageKernel *down, CImageLight light,
                                             CImageBitmap target);

/// Destroys a scaler. Does nothing for NULL.
void cimage_scaler_destroy(CImageScaler *_Nullable scaler);

/// Returns the part of the source that is needed.
CImageArea cimage_scaler_needed(const CImageScaler *scaler);

/// Finishes all target rows for which `rows` suffices. They are the rows of the source from number `first` on, which is
/// at most `cimage_scaler_first_row`.
void cimage_scaler_advance(CImageScaler *scaler, CImageBitmap rows, int32_t first);

/// Returns the number of the first source row that is still needed; `INT32_MAX` if the target is complete.
int32_t cimage_scaler_first_row(const CImageScaler *scaler);

/// Returns the largest number of source rows that are needed at once.
int32_t cimage_scaler_row_count(const CImageScaler *scaler);

/// Fills `target` with the means of 2 by 2 samples of `source`, which has one channel. The sides of `target` are half
/// those of `source`, rounded down; if one of them is 0, nothing is written.
void cimage_halve(CImageBitmap source, CImageBitmap target);

/// Fills `target` with the means of cells of `source`, which has the same channels. All cells together are in the
/// middle of `source` and must fit. Width times channels of a cell is at most 8192, and its width times its height at
/// most 1 << 24.
void cimage_average(CImageBitmap source, int32_t cellWidth, int32_t cellHeight, CImageBitmap target);

/// Fills `target` with `source` after applying an EXIF orientation (1 to 8). For 5 to 8, width and height of `target`
/// are swapped.
void cimage_orient(CImageBitmap source, int32_t orientation, CImageBitmap target);

/// Multiplies color by alpha, in place. `bitmap` has two or four channels.
void cimage_premultiply(CImageBitmap bitmap);

/// Divides color by alpha, in place. Fully transparent pixels become transparent black.
void cimage_unpremultiply(CImageBitmap bitmap);

/// Draws `source`, with straight alpha or none, onto `target` with its upper left corner at `left`, `top`; it must fit.
/// A target with alpha is overwritten; one without shows through where `source` is transparent, mixed as `light` says.
/// Gray may be drawn onto RGB.
void cimage_draw(CImageBitmap source, CImageBitmap target, int32_t left, int32_t top, CImageLight light);

/// Draws `source`, which may have any channels, on a `target` of the same size with four channels and straight alpha.
/// If `isOver` is 1, the target shows through where `source` is transparent; otherwise it is overwritten.
void cimage_compose(CImageBitmap source, CImageBitmap target, int32_t isOver);

/// Gives each fully transparent pixel of a bitmap with four channels the color of a visible neighbor: to the left, or
/// else to the right, or else above or below. If no pixel is visible, all become black. Any color would do, but the
/// hidden ones make a compressed file larger, and shine through at the border of the visible part.
void cimage_fill_transparent(CImageBitmap bitmap);

/// Sets every pixel to the first `channels` samples of `sample`.
void cimage_fill(CImageBitmap bitmap, const uint8_t *sample);

/// The kind of an image, by which an encoder is chosen.
typedef enum CIMAGE_CLOSED CImageContent {
  /// Opaque, with many colors.
  CImageContentPhoto,
  /// Partly transparent, with many colors.
  CImageContentCutout,
  /// At most 256 colors, of which transparent ones count separately. If all pixels are opaque and gray, at most 16,
  /// because a gray photo has no more than 256 colors either.
  CImageContentDrawing,
} CImageContent;

/// Returns the kind of an image.
CImageContent cimage_content(CImageBitmap bitmap);

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

/// Returns the number of bytes that is enough for any JPEG, PNG or WebP file encoded from this bitmap.
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

/// The options for encoding a WebP file.
typedef struct CImageWebPEncoding {
  /// The quality of lossy compression on libwebp's own scale, 0 to 100.
  float quality;
  /// Nonzero for lossless compression, which keeps everything but the colors of fully transparent pixels.
  int32_t isLossless;
} CImageWebPEncoding;

/// Encodes 1 to 4 channels, each side at most 16383 pixels, as a WebP file without metadata. Lossy compression keeps
/// alpha exactly. The file always has the extended layout: the RIFF header and the VP8X chunk take 30 bytes. `capacity`
/// must be at least `cimage_encoded_bound`. Exists only if `CIMAGE_WEBP` is defined.
CImageStatus cimage_webp_encode(CImageBitmap bitmap, CImageWebPEncoding options, uint8_t *file, size_t capacity,
                                size_t *written, CImageMessages *messages);

// MARK: Animations

/// A WebP animation that is being written. Exists only if `CIMAGE_WEBP` is defined.
typedef struct CImageAnimation CImageAnimation;

/// Creates an animation that is shown `loops` times, 0 for ever.
CImageStatus cimage_animation_create(int32_t width, int32_t height, CImageWebPEncoding options, int32_t loops,
                                     CImageAnimation *_Nullable *_Nonnull animation, CImageMessages *messages);

/// Adds a frame of the size of the animation that appears `start` milliseconds after the first one.
CImageStatus cimage_animation_add(CImageAnimation *animation, CImageBitmap frame, int32_t start,
                                  CImageMessages *messages);

/// Ends the animation after `end` milliseconds, and sets `bytes` to a file that the caller frees. If all frames are
/// equal, it is a still image. Every file has a VP8X chunk.
CImageStatus cimage_animation_finish(CImageAnimation *animation, int32_t end, uint8_t *_Nullable *_Nonnull bytes,
                                     size_t *count, CImageMessages *messages);

/// Destroys an animation. Does nothing for NULL.
void cimage_animation_destroy(CImageAnimation *_Nullable animation);

/// A GIF file that is being written.
typedef struct CImageGIF CImageGIF;

/// Creates a GIF file, each side at most 65535 pixels. If it has several frames, it is shown `loops` times, at most
/// 65536, or for ever if that is 0. The caller destroys it.
CImageStatus cimage_gif_create(int32_t width, int32_t height, int32_t loops, CImageGIF *_Nullable *_Nonnull gif);

/// Adds a frame of the size of the file that appears `start` milliseconds after the first one. Pixels with an alpha of
/// less than 128 are transparent, all others opaque. A frame that equals the one before adds to its time.
CImageStatus cimage_gif_add(CImageGIF *gif, CImageBitmap frame, int32_t start);

/// Ends the file after `end` milliseconds, and sets `bytes` to it; the caller frees it. The header takes 13 bytes. Call
/// it once, after at least one frame.
CImageStatus cimage_gif_finish(CImageGIF *gif, int32_t end, uint8_t *_Nullable *_Nonnull bytes, size_t *count);

/// Destroys a file. Does nothing for NULL.
void cimage_gif_destroy(CImageGIF *_Nullable gif);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
