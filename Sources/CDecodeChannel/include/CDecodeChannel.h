/// The messages between a process that renders thumbnails and `thumbs-decode`, which decodes the formats that are not
/// trusted, and the system calls that carry them.
///
/// The two share a pair of sockets that keeps the borders of messages (`SOCK_SEQPACKET`). The image and its pixels are
/// in memory files (`memfd_create(2)`), which the renderer creates and whose sizes it seals. All numbers have the byte
/// order of the machine. Both programs are of the same version, which the first message proves.
///
/// | from | message | reply |
/// |---|---|---|
/// | decoder | `DecodeHello`, once | |
/// | renderer | `DecodeRequest` to open an image, with its memory file | `DecodeReply`: what the header declares |
/// | renderer | `DecodeRequest` for the durations of its frames, with the memory file for them | `DecodeReply` |
/// | renderer | `DecodeRequest` to decode it, with the memory file for the profile and the pixels | `DecodeReply` |
/// | renderer | `DecodeRequest` to encode a thumbnail, whose pixels are in the memory file | `DecodeReply` |
///
/// With `--isolate all`, a process of `thumbs` renders the thumbnails of the other formats. It gets the same requests.
/// The memory file of the second one has a text with limits and specs, which the process replaces with a text and the
/// thumbnails.

#ifndef CDECODECHANNEL_H
#define CDECODECHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__clang__)
#define DECODE_CLOSED __attribute__((enum_extensibility(closed)))
#pragma clang assume_nonnull begin
#else
#define DECODE_CLOSED
#define _Nullable
#define _Nonnull
#endif

/// The version of the messages. Rises with every change.
enum { DecodeVersion = 7 };

/// The descriptor of the decoder's end of the sockets.
enum { DecodeSocket = 3 };

/// The formats, which are also the bits of `DecodeHello.formats`.
typedef enum DecodeFormatID {
  DecodeFormatAVIF = 0,
  DecodeFormatHEIC = 1,
  DecodeFormatJPEGXL = 2,
  DecodeFormatSVG = 3,
  DecodeFormatTIFF = 4,
  DecodeFormatPSD = 5,
  DecodeFormatRaw = 6,
  DecodeFormatJPEG2000 = 7,
  DecodeFormatPDF = 8,
  DecodeFormatCount = 9,
} DecodeFormatID;

/// The protections that hold in a decoder: the bits of `DecodeHello.protections`.
typedef enum DecodeProtection {
  /// `PR_SET_NO_NEW_PRIVS`.
  DecodeProtectionNoNewPrivileges = 1 << 0,
  /// Landlock: no file except fonts can be opened.
  DecodeProtectionLandlock = 1 << 1,
  /// A seccomp filter: few system calls are allowed, and none that opens a socket or starts a program.
  DecodeProtectionSystemCalls = 1 << 2,
  /// Separate namespaces: a file system with nothing but fonts, and without Landlock no network either.
  DecodeProtectionNamespaces = 1 << 3,
  /// Limits of memory, processor time, descriptors and file sizes.
  DecodeProtectionLimits = 1 << 4,
} DecodeProtection;

/// The result of opening or decoding an image.
typedef enum DecodeStatus {
  DecodeStatusOK = 0,
  /// The bytes end before the image data does.
  DecodeStatusTruncated,
  DecodeStatusCorrupt,
  /// The library does not decode this variant of the format.
  DecodeStatusUnsupported,
  /// The image has more pixels than allowed.
  DecodeStatusTooManyPixels,
  /// The image needs more work or memory than allowed.
  DecodeStatusLimit,
  DecodeStatusOutOfMemory,
  /// The file is something else, in a wrapper that several kinds of files have.
  DecodeStatusNotAnImage,
  /// The document has fewer pages.
  DecodeStatusNoPage,
} DecodeStatus;

/// Human-readable text, each ended by a NUL.
typedef struct DecodeText {
  char error[256];
  /// Harmless oddities, one per line.
  char warnings[512];
} DecodeText;

/// The first message of a decoder.
typedef struct DecodeHello {
  uint32_t version;
  uint32_t protections;
  /// 1 if the protections are enough for images from anywhere.
  uint32_t isProtected;
  /// 1 if the program was built with libseccomp, without which there is no filter.
  uint32_t hasFilter;
  /// The formats that the program decodes, and those in which it encodes thumbnails.
  uint32_t formats, encoders;
  /// The names and versions of the libraries, one per line, ended by a NUL.
  char libraries[256];
} DecodeHello;

/// The kinds of requests.
typedef enum DecodeStep {
  /// Opens an image, and closes the one before.
  DecodeStepOpen = 1,
  /// Decodes the open image, or a frame of it, or renders its thumbnails. Closes it after the last frame.
  DecodeStepDecode = 2,
  /// Encodes a thumbnail, and closes the open image.
  DecodeStepEncode = 3,
  /// Lists the durations of the frames of the open image, and closes it. They are integers of 32 bits in the memory
  /// file, in milliseconds.
  DecodeStepTime = 4,
} DecodeStep;

/// A request of a renderer. The fields of the other steps are zero.
typedef struct DecodeRequest {
  /// Repeated in the reply.
  uint64_t number;
  uint32_t step;

  /// To open: the format of the image. To encode: that of the file.
  uint32_t format;
  /// To open: the bytes of the image in the memory file.
  uint64_t byteCount;
  /// To open: the limits on the area and on the longest side, in pixels.
  uint64_t maxPixels;
  uint32_t longestSide;
  /// To open: the number of the page, from 1, of a document.
  uint32_t page;

  /// To decode: the stored size, or any size of a vector image. To encode: the size of the thumbnail. Its pixels are at
  /// the start of the memory file: red, green, blue and straight alpha of 8 bits, with the curve of sRGB. The file
  /// replaces them.
  uint32_t width, height;
  /// To decode: the number of times that the stored size is halved, and rounded up. The width and the height are those
  /// after that.
  uint32_t halvings;
  /// To decode: the number of the frame, from 0, and 1 if another frame will be decoded after it.
  uint32_t frame, isFollowed;
  /// To render: the bytes of the text in the memory file.
  uint64_t textCount;
  /// To decode: the offset of the first row in the memory file, which begins with the profile. The rows have no gaps.
  uint64_t pixelOffset;
  /// To encode: the quantizer of AV1, 0 to 63, and the number of pixels per sample of chroma in each direction, 1 or 2.
  uint32_t quantizer, chromaStep;
  /// To encode: the color primaries of the pixels (ITU-T H.273): 1 for those of sRGB, 12 for those of Display P3.
  uint32_t primaries;
} DecodeRequest;

/// The properties that the header of an image declares.
typedef struct DecodeHeader {
  /// The size as stored, before the orientation is applied; of a vector image, the size that it declares.
  uint32_t width, height;
  /// Samples per pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. Alpha is straight.
  uint32_t channels;
  /// 1...8, as in EXIF.
  uint32_t orientation;
  /// The bytes of the ICC profile; 0 without a profile.
  uint32_t profileCount;
  /// Color primaries, transfer characteristics and matrix coefficients (ITU-T H.273); 2 each if unspecified.
  uint8_t primaries, transfer, matrix;
  /// 1 if the image consists of shapes, which can be drawn at any size.
  uint8_t isVector;
  /// The number of times that the decoder can halve the size, at most 32; 0 if it cannot.
  uint8_t halvings;
  /// The frames of a sequence, which is shown so many times; 0 times for ever. 0 frames of a still image.
  uint32_t frameCount, loops;
} DecodeHeader;

/// The reply to a request.
typedef struct DecodeReply {
  uint64_t number;
  uint32_t status;
  /// After decoding: the complete rows, from the top.
  uint32_t rowCount;
  /// After rendering: the bytes of the text in the memory file. The thumbnails follow it.
  uint64_t textCount;
  /// After encoding: the bytes of the file in the memory file.
  uint64_t byteCount;
  /// After opening.
  DecodeHeader header;
  DecodeText text;
} DecodeReply;

/// Sends a message, with a descriptor unless that is -1. Returns 0, or -1 with `errno`.
int decode_send(int socket, const void *message, size_t size, int descriptor);

/// Waits for a message of exactly `size` bytes, at most `timeout` milliseconds unless that is -1. Returns 0, or -1 with
/// `errno`: `EBADMSG` for a message of another size, `ETIMEDOUT`, and `EPIPE` after the other end has closed.
///
/// `descriptor` gets the descriptor that came with the message, or -1. Without `descriptor`, one is an `EBADMSG`.
int decode_receive(int socket, void *message, size_t size, int timeout, int *_Nullable descriptor);

/// Creates a memory file of `size` bytes, which neither process can change anymore. Returns its descriptor, or -1.
int decode_memory(size_t size);

/// Keeps the content of a memory file from being changed through descriptors and new mappings. Returns 0 or -1.
int decode_freeze(int descriptor);

/// Starts the program at `path` with an empty environment, `/dev/null` as its standard streams, and no descriptor but
/// its end of a new pair of sockets. It is a child of a thread that lasts as long as this process. Returns the other
/// end, or -1 with `errno`. `process` gets the number of the process.
int decode_spawn(const char *path, char *const _Nullable *_Nonnull arguments, pid_t *process);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
