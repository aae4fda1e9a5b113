// Receives requests, carries them out, and replies.

#include "session.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The open image.
typedef struct Session {
  const Format *const *formats;
  const Format *format;
  Image image;
  Source source;
  DecodeHeader header;
} Session;

static void close_image(Session *session) {
  if (session->format) session->format->close(session->image);
  if (session->source.bytes) munmap((void *)session->source.bytes, session->source.count);
  *session = (Session){.formats = session->formats};
}

// Returns the size of a memory file; 0 if it has none.
static size_t size_of(int descriptor) {
  struct stat file;
  return fstat(descriptor, &file) < 0 || file.st_size < 0 ? 0 : (size_t)file.st_size;
}

// Maps the first `size` bytes of a memory file, which must have them. Of memory for pixels or a file, all pages are
// mapped at once, which is faster than a fault for each; not of large ones, which may fail before all are needed.
static void *map(int descriptor, size_t size, int protection) {
  enum { POPULATED = 16 << 20 };
  if (size == 0 || size_of(descriptor) < size) return NULL;
  int population = (protection & PROT_WRITE) && size <= POPULATED ? MAP_POPULATE : 0;
  void *memory = mmap(NULL, size, protection, MAP_SHARED | population, descriptor, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static DecodeStatus open_image(Session *session, const DecodeRequest *request, int descriptor, DecodeReply *reply) {
  close_image(session);
  const Format *format = request->format < DecodeFormatCount ? session->formats[request->format] : NULL;
  if (!format) return fail(DecodeStatusUnsupported, &reply->text, "the decoder lacks the library for this format");
  session->source.bytes = map(descriptor, request->byteCount, PROT_READ);
  if (!session->source.bytes) return fail(DecodeStatusOutOfMemory, &reply->text, "the file cannot be mapped");
  session->source.count = request->byteCount;
  session->source.limits = (Limits){.pixels = request->maxPixels, .side = request->longestSide};
  session->source.page = request->page;
  session->format = format;
  session->header = (DecodeHeader){.orientation = 1, .primaries = 2, .transfer = 2, .matrix = 2};
  DecodeStatus status = format->open(&session->source, &session->image, &session->header, &reply->text);
  reply->header = session->header;
  return status;
}

// Returns true if the format decodes to the size of the request. The decoders rely on it.
static bool is_possible(const DecodeHeader *header, const DecodeRequest *request) {
  bool isPossible = request->halvings <= header->halvings && request->halvings <= 32 &&
                    (request->frame == 0 || request->frame < header->frameCount);
  if (!isPossible) return false;
  uint64_t divisor = UINT64_C(1) << request->halvings;
  bool isWhole = request->width == (header->width + divisor - 1) / divisor &&
                 request->height == (header->height + divisor - 1) / divisor;
  return isWhole || header->isVector;
}

// Maps the memory for the profile and the pixels, and sets `size`.
static uint8_t *map_pixels(const DecodeHeader *header, const DecodeRequest *request, int descriptor, size_t *size) {
  size_t area = (size_t)request->width * request->height;
  if (request->pixelOffset < header->profileCount || __builtin_mul_overflow(area, header->channels, size) ||
      __builtin_add_overflow(*size, request->pixelOffset, size)) {
    return NULL;
  }
  return map(descriptor, *size, PROT_READ | PROT_WRITE);
}

// Lists the durations of a sequence.
static DecodeStatus time_frames(Session *session, int descriptor, DecodeReply *reply) {
  size_t size = session->header.frameCount * sizeof(uint32_t);
  if (!session->format || !session->format->list_durations || size == 0) {
    return fail(DecodeStatusUnsupported, &reply->text, "the image has no frames");
  }
  uint32_t *durations = map(descriptor, size, PROT_READ | PROT_WRITE);
  if (!durations) return fail(DecodeStatusOutOfMemory, &reply->text, "the memory for the durations cannot be mapped");
  session->format->list_durations(session->image, durations);
  munmap(durations, size);
  return DecodeStatusOK;
}

static DecodeStatus decode_image(Session *session, const DecodeRequest *request, int descriptor, DecodeReply *reply) {
  const DecodeHeader *header = &session->header;
  if (!session->format) return fail(DecodeStatusCorrupt, &reply->text, "no image is open");
  if (!is_possible(header, request)) return fail(DecodeStatusUnsupported, &reply->text, "the image has another size");
  size_t size;
  uint8_t *memory = map_pixels(header, request, descriptor, &size);
  if (!memory) return fail(DecodeStatusOutOfMemory, &reply->text, "the memory for the pixels cannot be mapped");
  Target target = {.width = request->width, .height = request->height, .channels = header->channels};
  target.halvings = request->halvings;
  target.frame = request->frame;
  target.pixels = memory + request->pixelOffset;
  if (header->profileCount) session->format->copy_profile(session->image, memory);
  DecodeStatus status = session->format->decode(session->image, &target, &reply->text);
  reply->rowCount = status == DecodeStatusOK ? target.height : target.rowCount;
  munmap(memory, size);
  return status;
}

// Returns true if the memory has the pixels, and the settings are in their ranges.
static bool is_sensible(const Encoding *encoding) {
  enum { LONGEST_SIDE = 1 << 16, LARGEST_QUANTIZER = 63 };
  bool is_image = encoding->width > 0 && encoding->width <= LONGEST_SIDE && encoding->height > 0 &&
                  encoding->height <= encoding->capacity / 4 / encoding->width;
  return is_image && encoding->quantizer <= LARGEST_QUANTIZER &&
         (encoding->chromaStep == 1 || encoding->chromaStep == 2) &&
         (encoding->primaries == 1 || encoding->primaries == 12);
}

static DecodeStatus encode_image(Session *session, const DecodeRequest *request, int descriptor, DecodeReply *reply) {
  const Format *format = request->format < DecodeFormatCount ? session->formats[request->format] : NULL;
  if (!format || !format->encode || !format->can_encode()) {
    return fail(DecodeStatusUnsupported, &reply->text, "the program lacks the encoder for this format");
  }
  Encoding encoding = {.width = request->width, .height = request->height, .quantizer = request->quantizer};
  encoding.chromaStep = request->chromaStep;
  encoding.primaries = request->primaries;
  encoding.capacity = size_of(descriptor);
  if (!is_sensible(&encoding)) return fail(DecodeStatusCorrupt, &reply->text, "the request makes no sense");
  encoding.memory = map(descriptor, encoding.capacity, PROT_READ | PROT_WRITE);
  if (!encoding.memory) return fail(DecodeStatusOutOfMemory, &reply->text, "the memory for the file cannot be mapped");
  DecodeStatus status = format->encode(&encoding, &reply->text);
  reply->byteCount = encoding.count;
  munmap(encoding.memory, encoding.capacity);
  return status;
}

static DecodeStatus carry_out_step(Session *session, const DecodeRequest *request, int descriptor, DecodeReply *reply) {
  switch (request->step) {
    case DecodeStepOpen: return open_image(session, request, descriptor, reply);
    case DecodeStepDecode: return decode_image(session, request, descriptor, reply);
    case DecodeStepEncode: return encode_image(session, request, descriptor, reply);
    case DecodeStepTime: return time_frames(session, descriptor, reply);
    default: return fail(DecodeStatusUnsupported, &reply->text, "there is no step %u", request->step);
  }
}

// Carries out a request, and sends the reply. Returns false if the renderer is gone.
static bool carry_out(Session *session, const DecodeRequest *request, int descriptor, int socket) {
  DecodeReply reply = {.number = request->number};
  // A failure to allocate memory for an earlier request is no reason for the end of this one.
  errno = 0;
  reply.status = carry_out_step(session, request, descriptor, &reply);
  close(descriptor);
  bool isOpen = request->step == DecodeStepOpen || (request->step == DecodeStepDecode && request->isFollowed);
  if (!isOpen || reply.status != DecodeStatusOK) {
    close_image(session);
    trim_memory();
  }
  return decode_send(socket, &reply, sizeof reply, -1) == 0;
}

static int carry_out_all(Session *session, int socket) {
  for (;;) {
    DecodeRequest request;
    int descriptor = -1;
    if (decode_receive(socket, &request, sizeof request, -1, &descriptor) < 0) return 0;
    if (descriptor < 0 || !carry_out(session, &request, descriptor, socket)) return 1;
  }
}

int serve(int socket, const Format *const formats[DecodeFormatCount]) {
  Session session = {.formats = formats};
  int status = carry_out_all(&session, socket);
  close_image(&session);
  return status;
}
