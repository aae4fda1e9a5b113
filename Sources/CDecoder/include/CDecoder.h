/// The sandboxed part of `thumbs-decode`: the sandbox, the loop that receives messages, and the interface to the
/// decoders, one for each format.

#ifndef CDECODER_H
#define CDECODER_H

#include <CDecodeChannel.h>
#include <stdbool.h>

/// The limits on an image.
typedef struct Limits {
  uint64_t pixels;
  uint32_t side;
} Limits;

/// An image file in memory.
typedef struct Source {
  const uint8_t *bytes;
  size_t count;
  Limits limits;
  /// The number of the page, from 1, of a document that has several.
  uint32_t page;
} Source;

/// The place for the pixels of an image: rows without gaps, of the channels that its header has declared.
typedef struct Target {
  uint8_t *pixels;
  uint32_t width, height, channels;
  /// The number of times that the stored size was halved.
  uint32_t halvings;
  /// The number of the frame, from 0, of a sequence.
  uint32_t frame;
  /// The complete rows, from the top. A decoder that fails half-way sets it.
  uint32_t rowCount;
} Target;

/// A thumbnail to encode: its pixels, red, green, blue and straight alpha of 8 bits, which the file replaces.
typedef struct Encoding {
  uint8_t *memory;
  uint32_t width, height;
  /// The quantizer, 0 to 63, and the pixels per sample of chroma in each direction, 1 or 2.
  uint32_t quantizer, chromaStep;
  /// The color primaries (ITU-T H.273).
  uint32_t primaries;
  /// The bytes that fit into the memory, and those of the file.
  size_t capacity, count;
} Encoding;

/// Returns true if this process has one thread.
bool has_one_thread(void);

/// An open image. Each decoder has its own structure behind it.
typedef void *Image;

/// A format. The functions run on one thread, one image at a time.
typedef struct Format {
  DecodeFormatID id;
  /// The name and version of the library, such as `libavif 0.11.1`.
  const char *(*library)(void);
  /// Makes the library load what it would load later. Called once, before the sandbox closes. NULL if there is nothing.
  void (*prepare)(void);
  /// Reads the header. `header` is zero, except that the orientation is 1 and the color code points are 2.
  /// `*image` is passed to the other functions, also after a failure; it is NULL before.
  DecodeStatus (*open)(const Source *source, Image *image, DecodeHeader *header, DecodeText *text);
  /// Copies the ICC profile, of the size that the header has declared.
  void (*copy_profile)(Image image, uint8_t *bytes);
  /// Sets the time in milliseconds for which each frame of a sequence is shown. NULL if all images of the format are
  /// still.
  void (*list_durations)(Image image, uint32_t *durations);
  /// Decodes the image, or a frame of a sequence. The frames are decoded in their order.
  DecodeStatus (*decode)(Image image, Target *target, DecodeText *text);
  void (*close)(Image image);
  /// Starts the threads that the library would start later. Called after `prepare`, when files are out of reach for
  /// them and the process has no capabilities, and before the other protections hold. NULL if there is nothing.
  void (*start_threads)(void);
  /// Encodes a thumbnail in this format. NULL if the program only decodes it.
  DecodeStatus (*encode)(Encoding *encoding, DecodeText *text);
  /// Returns true if the library has an encoder. NULL without `encode`.
  bool (*can_encode)(void);
} Format;

/// The settings that a renderer passes in the arguments of a program.
typedef struct DecoderSettings {
  /// `--memory=`: the maximum address space in bytes, programs and libraries included. Default 2 GiB.
  uint64_t memory;
  /// `--seconds=`: the maximum processor time, for all images. Default 60.
  uint64_t seconds;
  /// `--unsafe`: true to serve without enough protections. Default false.
  bool isUnsafe;
} DecoderSettings;

/// The arguments of this process, the name of the program first. Swift's `CommandLine` searches for them below the
/// environment, where they are not if a preloaded library has called `setenv` before `main`.
int process_argument_count(void);
char *const *process_arguments(void);

/// Reads the settings, and ignores other arguments.
DecoderSettings decoder_settings(int count, char *const *arguments);

/// Runs the program with these formats, which are at the indexes of their ids; NULL for those that it lacks. Returns
/// the status of the process.
int decoder_main(int count, char **arguments, const Format *const formats[DecodeFormatCount]);

/// Closes the sandbox of a process that needs no files at all, and that has one thread. Sets the protections of
/// `hello`.
void decoder_close_sandbox(const DecoderSettings *settings, DecodeHello *hello);

/// Returns true if an image of this size is within the limits. Otherwise sets the error, and `status`.
bool check_size(uint64_t width, uint64_t height, const Limits *limits, DecodeStatus *status, DecodeText *text);

/// Declares an image of shapes of this size, rounded to whole pixels with nearly its proportions. One that is larger
/// than the limits is declared smaller, because it can have any size.
DecodeStatus declare_vector(
    double width, double height, const Limits *limits, DecodeHeader *header, DecodeText *text);

/// Sets the error of `text`, as `printf` does, and returns `status`.
DecodeStatus fail(DecodeStatus status, DecodeText *text, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Adds a warning, unless it is there already or there is no room.
void add_warning(DecodeText *text, const char *warning);

/// Returns true if there are fonts within reach. Without Landlock, which would let the process open nothing else, it
/// can open no file at all.
bool can_open_fonts(void);

/// Returns the size of an ICC profile of `count` bytes; 0, with a warning, if it is larger than 4 MiB. Large printing
/// profiles take about 3 MB, and the renderer accepts no larger one.
uint32_t accepted_profile(size_t count, DecodeText *text);

/// Divides the colors of RGBA pixels by their alpha.
void unpremultiply(uint8_t *pixels, size_t count);

/// Divides the levels of pixels of gray and alpha by their alpha.
void unpremultiply_gray(uint8_t *pixels, size_t count);

#endif
