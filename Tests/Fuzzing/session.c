// Sends arbitrary requests to the loop of thumbs-decode: with and without memory files, of wrong sizes, and in any
// order. The format is one of this file. It fails if it gets less memory than it was promised.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../Sources/CDecoder/session.h"

/// The requests of an input at most, so that all of them and all replies fit into the sockets.
enum { maxRequests = 8 };

/// A request in the input, and the file that it comes with.
typedef struct Message {
  uint8_t kind, fill;
  uint16_t fileSize;
  /// The first bytes of the file.
  uint8_t content[12];
  DecodeRequest request;
} Message;

/// The bits of a kind.
enum {
  isShort = 1, isLong = 2, hasNoFile = 4, hasOtherFile = 8, hasAnyStep = 16, hasAnySizes = 32, hasNegativeOffset = 64
};

// MARK: Memory

static uint8_t *mapped;
static size_t mappedCount;

void *__real_mmap(void *address, size_t count, int protection, int flags, int descriptor, off_t offset);

/// Called instead of `mmap`, because of an option of the linker.
void *__wrap_mmap(void *address, size_t count, int protection, int flags, int descriptor, off_t offset) {
  void *memory = __real_mmap(address, count, protection, flags, descriptor, offset);
  if (memory != MAP_FAILED && descriptor >= 0) {
    mapped = memory;
    mappedCount = count;
  }
  return memory;
}

/// Fails unless the memory is within the last file.
static void check_memory(const uint8_t *start, size_t count) {
  if (start < mapped || count > mappedCount || (size_t)(start - mapped) > mappedCount - count) abort();
}

// MARK: Format

typedef struct Opened {
  DecodeHeader header;
  uint8_t decodeStatus, rowCount;
  /// The end of the profile, once it is copied.
  const uint8_t *profileEnd;
} Opened;

static const char *library(void) { return "fuzzed 1"; }

static DecodeStatus status_of(uint8_t byte) { return byte < 192 ? DecodeStatusOK : byte % 7; }

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  uint8_t content[12] = {0};
  check_memory(source->bytes, source->count);
  memcpy(content, source->bytes, source->count < sizeof content ? source->count : sizeof content);
  Opened *opened = calloc(1, sizeof *opened);
  *image = opened;
  header->width = content[0];
  header->height = content[1];
  header->channels = 1 + content[2] % 4;
  header->profileCount = content[3];
  header->isVector = content[4] & 1;
  header->halvings = content[8] % 40;
  header->frameCount = content[9];
  opened->header = *header;
  opened->decodeStatus = content[5];
  opened->rowCount = content[6];
  return fail(status_of(content[7]), text, "%.*s", (int)sizeof content, (const char *)content);
}

static void copy_profile(Image image, uint8_t *bytes) {
  Opened *opened = image;
  check_memory(bytes, opened->header.profileCount);
  memset(bytes, 1, opened->header.profileCount);
  opened->profileEnd = bytes + opened->header.profileCount;
}

static void list_durations(Image image, uint32_t *durations) {
  const Opened *opened = image;
  if (opened->header.frameCount == 0) abort();
  check_memory((uint8_t *)durations, opened->header.frameCount * sizeof *durations);
  memset(durations, 4, opened->header.frameCount * sizeof *durations);
}

/// Fails unless the size is one that a decoder with this header expects.
static void check_size_of(const Target *target, const DecodeHeader *header) {
  uint64_t width = header->width, height = header->height;
  if (target->halvings > header->halvings || target->halvings > 32) abort();
  for (uint32_t i = 0; i < target->halvings; i++) {
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  if (!header->isVector && (target->width != width || target->height != height)) abort();
}

static DecodeStatus decode_image(Image image, Target *target, DecodeText *text) {
  const Opened *opened = image;
  size_t count = (size_t)target->width * target->height * target->channels;
  if (target->channels != opened->header.channels || target->pixels < opened->profileEnd) abort();
  check_size_of(target, &opened->header);
  if (target->frame != 0 && target->frame >= opened->header.frameCount) abort();
  check_memory(target->pixels, count);
  memset(target->pixels, 2, count);
  target->rowCount = opened->rowCount;
  add_warning(text, "fuzzed");
  return status_of(opened->decodeStatus);
}

static DecodeStatus encode_image(Encoding *encoding, DecodeText *text) {
  size_t count = (size_t)encoding->width * encoding->height * 4;
  check_memory(encoding->memory, encoding->capacity);
  if (count == 0 || count > encoding->capacity || encoding->quantizer > 63) abort();
  if (encoding->chromaStep != 1 && encoding->chromaStep != 2) abort();
  uint8_t first = encoding->memory[0];
  memset(encoding->memory, 3, encoding->capacity);
  encoding->count = first;
  return fail(status_of(first), text, "fuzzed");
}

static bool can_encode(void) { return true; }

static void close_image(Image image) { free(image); }

// MARK: Requests

/// Replaces numbers by those that are likely after a request to open a file with `sides`, which it sets.
static void simplify(Message *message, uint8_t sides[2]) {
  DecodeRequest *request = &message->request;
  if (!(message->kind & hasAnyStep)) {
    request->step = DecodeStepOpen + request->step % 4;
    request->format = request->format % 8 == 0 ? DecodeFormatAVIF : DecodeFormatSVG;
  }
  if (message->kind & hasAnySizes) return;
  request->byteCount = request->byteCount % 8 == 0 ? request->byteCount % 5000 : message->fileSize;
  if (request->step == DecodeStepOpen) {
    memcpy(sides, message->content, 2);
    return;
  }
  request->quantizer %= 80;
  request->chromaStep %= 4;
  request->halvings %= 4;
  request->frame %= 4;
  uint32_t divisor = 1u << request->halvings;
  request->width = (sides[0] + divisor - 1) / divisor;
  request->height = (sides[1] + divisor - 1) / divisor;
  request->pixelOffset %= 512;
  if (message->kind & hasNegativeOffset) request->pixelOffset = -request->pixelOffset;
}

static int make_file(const Message *message) {
  if (message->kind & hasNoFile) return -1;
  if (message->kind & hasOtherFile) return open("/dev/null", O_RDONLY);
  int descriptor = decode_memory(message->fileSize);
  size_t count = message->fileSize < sizeof message->content ? message->fileSize : sizeof message->content;
  if (descriptor >= 0 && pwrite(descriptor, message->content, count, 0) != (ssize_t)count) abort();
  return descriptor;
}

static void send_message(int socket, Message *message, uint8_t sides[2]) {
  char bytes[sizeof message->request + 1] = {0};
  size_t size = sizeof message->request;
  simplify(message, sides);
  memcpy(bytes, &message->request, size);
  if (message->kind & isShort) size--;
  if (message->kind & isLong) size++;
  int descriptor = make_file(message);
  if (decode_send(socket, bytes, size, descriptor) < 0) abort();
  if (descriptor >= 0) close(descriptor);
}

/// Fails unless the replies are those to the first requests, in order, and within their limits.
static void check_replies(int socket, const uint64_t *numbers, size_t count) {
  DecodeReply reply;
  for (size_t index = 0;; index++) {
    ssize_t size = recv(socket, &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
    if (size <= 0) return;
    if (size != sizeof reply || index == count || reply.number != numbers[index]) abort();
    if (reply.status > DecodeStatusNotAnImage || reply.header.channels > 4) abort();
    if (!memchr(reply.text.error, 0, sizeof reply.text.error)) abort();
    if (!memchr(reply.text.warnings, 0, sizeof reply.text.warnings)) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const Format fuzzed = {
    .id = DecodeFormatSVG, .library = library, .open = open_image, .copy_profile = copy_profile,
    .list_durations = list_durations, .decode = decode_image, .close = close_image, .encode = encode_image,
    .can_encode = can_encode};
  static const Format *const formats[DecodeFormatCount] = {[DecodeFormatSVG] = &fuzzed};
  uint64_t numbers[maxRequests];
  uint8_t sides[2] = {0};
  size_t messageCount = 0;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) abort();
  for (; messageCount < maxRequests && count >= sizeof(Message); messageCount++) {
    Message message;
    memcpy(&message, bytes, sizeof message);
    bytes += sizeof message;
    count -= sizeof message;
    numbers[messageCount] = message.request.number;
    send_message(sockets[0], &message, sides);
  }
  shutdown(sockets[0], SHUT_WR);
  int status = serve(sockets[1], formats);
  if (status != 0 && status != 1) abort();
  close(sockets[1]);
  check_replies(sockets[0], numbers, messageCount);
  close(sockets[0]);
  return 0;
}
