// A decoder that replies with what its image has: two replies without their text, and text for both. Nothing of them is
// checked.

#include <CDecodeChannel.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// The part of a reply that the image has.
enum { fieldCount = offsetof(DecodeReply, text) };

/// The image, after the bytes by which it is recognized.
typedef struct Script {
  uint8_t signature[3];
  uint8_t kinds[2];
  uint8_t replies[2][fieldCount];
} Script;

/// The bits of a kind.
enum { isShort = 1, isLong = 2, hasOtherNumber = 4, isTwice = 8, hasDescriptor = 16, isLast = 32 };

static uint8_t image[1 << 16];
static size_t imageCount;

/// Fills the text of a reply with the rest of the image. It need not have an end.
static void fill_text(DecodeText *text) {
  size_t count = imageCount < sizeof(Script) ? 0 : imageCount - sizeof(Script);
  const uint8_t *rest = image + sizeof(Script);
  size_t errorCount = count / 2 < sizeof text->error ? count / 2 : sizeof text->error;
  memcpy(text->error, rest, errorCount);
  memcpy(text->warnings, rest + errorCount,
         count - errorCount < sizeof text->warnings ? count - errorCount : sizeof text->warnings);
}

static void fill_pixels(int descriptor) {
  off_t size = lseek(descriptor, 0, SEEK_END);
  uint8_t *memory = size > 0 ? mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return;
  for (off_t i = 0; i < size; i++) memory[i] = image[(size_t)i % sizeof image];
  munmap(memory, (size_t)size);
}

static void reply(const DecodeRequest *request) {
  const Script *script = (const Script *)image;
  int step = request->step == DecodeStepOpen ? 0 : 1;
  uint8_t kind = script->kinds[step];
  struct { DecodeReply reply; uint8_t more; } message = {0};
  memcpy(&message.reply, script->replies[step], fieldCount);
  fill_text(&message.reply.text);
  if (!(kind & hasOtherNumber)) message.reply.number = request->number;
  size_t size = sizeof message.reply - (kind & isShort ? 1 : 0) + (kind & isLong ? 1 : 0);
  for (int i = 0; i < (kind & isTwice ? 2 : 1); i++) {
    decode_send(DecodeSocket, &message, size, kind & hasDescriptor ? DecodeSocket : -1);
  }
  if (kind & isLast) _exit(1);
}

int main(void) {
  DecodeHello hello = {.version = DecodeVersion, .isProtected = 1, .formats = (1 << DecodeFormatCount) - 1};
  decode_send(DecodeSocket, &hello, sizeof hello, -1);
  for (;;) {
    DecodeRequest request;
    int descriptor = -1;
    if (decode_receive(DecodeSocket, &request, sizeof request, -1, &descriptor) < 0) return 0;
    if (request.step == DecodeStepOpen) {
      memset(image, 0, sizeof image);
      ssize_t count = pread(descriptor, image, sizeof image, 0);
      imageCount = count > 0 ? (size_t)count : 0;
    } else {
      fill_pixels(descriptor);
    }
    close(descriptor);
    reply(&request);
  }
}
