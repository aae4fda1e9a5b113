// A decoder that does what its image says, to show what a decoder can do that was taken over.
//
// An image is the text `svg` (compressed, by its signature), a step, and an attempt, such as `\x1f\x8b\x08 open fork`.
// A sequence of three frames begins like an AVIF file instead.
// An attempt that is possible makes the image the red color; one that is refused makes it green, and `errno` is in the
// warnings.
//
// `hostile-decode --render N` is a renderer that has closed its first N descriptors. `hostile-decode --wait ATTEMPT` is
// one that passes an image with an attempt to a decoder, prints the number of that process, and waits to be killed.

#include <CDecoder.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Attempt {
  const char *name;
  // Returns true if the attempt was possible.
  bool (*run)(void);
} Attempt;

static bool read_file(void) { return open("/etc/passwd", O_RDONLY) >= 0; }
static bool read_relative(void) { return open("../../../../etc/passwd", O_RDONLY) >= 0; }
static bool read_memory(void) { return open("/proc/self/mem", O_RDWR) >= 0; }
static bool write_file(void) { return open("/tmp/thumbs-hostile", O_WRONLY | O_CREAT, 0600) >= 0; }
static bool write_font(void) { return open("/usr/share/fonts/hostile", O_WRONLY | O_CREAT, 0600) >= 0; }
static bool list_directory(void) { return open("/", O_RDONLY | O_DIRECTORY) >= 0; }

static bool open_path(void) { return open("/etc/passwd", O_PATH) >= 0; }

// Returns true if a call fails with another error for a file that exists than for one that does not.
static bool tells_files_apart(int (*call)(const char *path)) {
  errno = 0;
  call("/etc/passwd");
  int present = errno;
  errno = 0;
  call("/etc/passwd-that-does-not-exist");
  return present != errno;
}

static int call_stat(const char *path) {
  struct stat status;
  return stat(path, &status);
}

static int call_access(const char *path) { return access(path, F_OK); }
static int call_open(const char *path) { return open(path, O_RDONLY); }
static int call_open_path(const char *path) { return open(path, O_PATH); }

static bool find_file(void) {
  return tells_files_apart(call_stat) || tells_files_apart(call_access) || tells_files_apart(call_open) ||
         tells_files_apart(call_open_path);
}

static bool connect_internet(void) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (descriptor < 0) return false;
  return connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 || errno == ECONNREFUSED;
}

static bool connect_local(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }
static bool fork_process(void) { return fork() >= 0; }
static bool run_program(void) { return execl("/bin/true", "true", NULL) == 0; }
static bool trace_parent(void) { return ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0; }
static bool signal_parent(void) { return kill(getppid(), 0) == 0; }

static bool signal_thread(void) { return tgkill(getppid(), getppid(), 0) == 0; }

static bool lock_file(void) {
  struct flock lock = {.l_type = F_WRLCK};
  return fcntl(DecodeSocket, F_SETLK, &lock) == 0;
}

// The kernel would send the signal to the owner of the socket when the next request comes.
static bool signal_by_descriptor(void) {
  return fcntl(DecodeSocket, F_SETOWN, getppid()) == 0;
}

static bool run_new_code(void) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED;
}

static bool allocate(void) {
  for (int count = 0; count < 1024; count++) {
    volatile char *memory = malloc(16 << 20);
    if (!memory) return false;
    for (size_t index = 0; index < 16 << 20; index += 4096) memory[index] = 1;
  }
  return true;
}

// Ends as the libraries do when there is no memory.
static bool exhaust(void) {
  // A compiler may leave out memory that is not used.
  for (void *volatile memory = malloc(16 << 20); memory; memory = malloc(16 << 20)) {}
  abort();
}

static bool spin(void) {
  for (volatile uint64_t count = 0;; count++) {}
}

static bool crash(void) { raise(SIGSEGV); return true; }
static bool end(void) { abort(); }
static bool stop(void) { raise(SIGSTOP); return true; }
static bool leave(void) { _exit(0); }

static bool wait_forever(void) {
  for (;;) sleep(1000);
}

static bool send_garbage(void) { return decode_send(DecodeSocket, "garbage", 7, -1) == 0; }

static bool send_much(void) {
  static char much[100000];
  return decode_send(DecodeSocket, much, sizeof much, -1) == 0;
}

static bool send_descriptor(void) {
  DecodeReply reply = {.number = 1};
  return decode_send(DecodeSocket, &reply, sizeof reply, DecodeSocket) == 0;
}

// Sends a reply with copies of the socket, in one message. The reply is the one that is due, but for them.
static bool send_descriptors(size_t count) {
  enum { MOST = 253 };
  DecodeReply reply = {.number = 1};
  struct iovec part = {.iov_base = &reply, .iov_len = sizeof reply};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST * sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  for (size_t index = 0; index < count; index++) {
    int descriptor = DecodeSocket;
    memcpy(CMSG_DATA(header) + index * sizeof descriptor, &descriptor, sizeof descriptor);
  }
  return sendmsg(DecodeSocket, &message, MSG_NOSIGNAL) >= 0;
}

static bool send_two_descriptors(void) { return send_descriptors(2); }
static bool send_many_descriptors(void) { return send_descriptors(253); }

// The pixels that a thread of this decoder keeps changing, also after the reply.
static uint8_t *_Atomic changing_pixels;
static _Atomic size_t changing_count;

static atomic_bool is_thread_running;

static void *change_pixels(void *nothing) {
  is_thread_running = true;
  for (;;) {
    uint8_t *pixels = changing_pixels;
    if (!pixels) {
      usleep(1000);
      continue;
    }
    for (size_t index = 0; index < changing_count; index += 3) memcpy(pixels + index, "\xFF\0\0", 3);
    for (size_t index = 0; index < changing_count; index += 3) memcpy(pixels + index, "\0\xFF\0", 3);
  }
  return nothing;
}

static void start_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, change_pixels, NULL);
  // The sandbox refuses a call that the C library makes at the start of a thread.
  while (!is_thread_running) sched_yield();
}

// Maps the pixels a second time, which lasts when the decoder has replied.
static void keep_changing(uint8_t *pixels, size_t count) {
  uintptr_t page = (uintptr_t)pixels & ~(uintptr_t)4095;
  size_t start = (uintptr_t)pixels - page;
  uint8_t *copy = mremap((void *)page, 0, start + count, MREMAP_MAYMOVE);
  if (copy == MAP_FAILED) return;
  changing_count = count;
  changing_pixels = copy + start;
}

static bool keep_changing_pixels(void) { return true; }

static bool send_twice(void) {
  DecodeReply reply = {.number = 1};
  bool isSent = decode_send(DecodeSocket, &reply, sizeof reply, -1) == 0;
  return isSent && decode_send(DecodeSocket, &reply, sizeof reply, -1) == 0;
}

static const Attempt attempts[] = {
    {"read-file", read_file}, {"read-relative", read_relative}, {"read-memory", read_memory},
    {"write-file", write_file}, {"write-font", write_font}, {"list-directory", list_directory},
    {"open-path", open_path}, {"find-file", find_file}, {"connect-internet", connect_internet},
    {"connect-local", connect_local}, {"fork", fork_process},
    {"exec", run_program}, {"trace-parent", trace_parent}, {"signal-parent", signal_parent},
    {"run-new-code", run_new_code}, {"allocate", allocate}, {"exhaust", exhaust}, {"spin", spin}, {"crash", crash},
    {"abort", end}, {"stop", stop}, {"leave", leave}, {"wait", wait_forever}, {"send-garbage", send_garbage},
    {"send-much", send_much},
    {"send-descriptor", send_descriptor}, {"send-two-descriptors", send_two_descriptors},
    {"send-many-descriptors", send_many_descriptors}, {"send-twice", send_twice}, {"lock-file", lock_file},
    {"keep-changing-pixels", keep_changing_pixels}, {"signal-by-descriptor", signal_by_descriptor},
    {"signal-thread", signal_thread},
};

static bool is_possible;

static bool has_name(const Source *source, const char *name) {
  return memmem(source->bytes, source->count, name, strlen(name)) != NULL;
}

// Runs the attempt that the image names for this step.
static void attempt(const Source *source, const char *step, DecodeText *text) {
  char words[64] = {0}, wanted[32], name[32];
  size_t start = has_name(source, "ftyp") ? 16 : 3, count = source->count - start;
  memcpy(words, source->bytes + start, count < 63 ? count : 63);
  if (sscanf(words, "%31s %31s", wanted, name) != 2 || strcmp(wanted, step) != 0) return;
  for (size_t index = 0; index < sizeof attempts / sizeof *attempts; index++) {
    if (strcmp(attempts[index].name, name) != 0) continue;
    errno = 0;
    is_possible = attempts[index].run();
    add_warning(text, is_possible ? "possible" : strerror(errno));
  }
}

static const char *library(void) { return "hostile 1"; }

static DecodeStatus open_image(const Source *source, Image *image, DecodeHeader *header, DecodeText *text) {
  is_possible = false;
  *image = (void *)source;
  header->width = header->height = 16;
  header->channels = 3;
  if (has_name(source, "halvable")) {
    header->width = 65;
    header->height = 33;
    header->halvings = 4;
  }
  if (has_name(source, "too-many-halvings")) header->halvings = 33;
  if (has_name(source, "ftypavis")) header->frameCount = 3;
  if (has_name(source, "too-many-frames")) header->frameCount = 1 << 20;
  // The first time it is opened for its durations, then as a still image, then for its frames.
  static int openings = 0;
  if (has_name(source, "growing-image") && ++openings % 3 == 0) header->width = 8;
  attempt(source, "open", text);
  return DecodeStatusOK;
}

// Frames of 100 ms, and one whose duration is as long as it can be.
static void list_durations(Image image, uint32_t *durations) {
  DecodeText text = {0};
  attempt(image, "time", &text);
  durations[0] = durations[1] = 100;
  durations[2] = has_name(image, "for-ever") ? UINT32_MAX : 100;
}

static DecodeStatus decode_image(Image image, Target *target, DecodeText *text) {
  attempt(image, target->frame == 2 ? "third-frame" : "decode", text);
  for (size_t index = 0; index < (size_t)target->width * target->height; index++) {
    memcpy(target->pixels + 3 * index, is_possible ? "\xFF\0\0" : "\0\xFF\0", 3);
    // The blue color is the number of halvings, or that of the frame.
    target->pixels[3 * index + 2] = (uint8_t)(target->halvings + 100 * target->frame);
  }
  size_t size = (size_t)target->width * target->height * 3;
  if (has_name(image, "keep-changing-pixels")) keep_changing(target->pixels, size);
  return DecodeStatusOK;
}

static void add_number(Encoding *encoding, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) encoding->memory[encoding->count++] = (uint8_t)(number >> shift);
}

static void add_box(Encoding *encoding, uint32_t size, const char *type) {
  add_number(encoding, size);
  memcpy(encoding->memory + encoding->count, type, 4);
  encoding->count += 4;
}

// Writes the smallest file that declares the size of the thumbnail.
static void write_empty_file(Encoding *encoding) {
  encoding->count = 0;
  add_box(encoding, 16, "ftyp");
  memcpy(encoding->memory + encoding->count, "avif\0\0\0", 8);
  encoding->count += 8;
  add_box(encoding, 48, "meta");
  add_number(encoding, 0);
  add_box(encoding, 36, "iprp");
  add_box(encoding, 28, "ipco");
  add_box(encoding, 20, "ispe");
  add_number(encoding, 0);
  add_number(encoding, encoding->width);
  add_number(encoding, encoding->height);
}

// The attempts of an encoder, by the first byte of the pixels.
static DecodeStatus encode(Encoding *encoding, DecodeText *text) {
  switch (encoding->memory[0]) {
    case 1: encoding->count = encoding->capacity + 1; break;
    case 2: encoding->count = SIZE_MAX; break;
    case 3: encoding->count = 0; break;
    case 4: crash(); break;
    case 5: send_garbage(); break;
    case 6: spin(); break;
    case 7: return fail(DecodeStatusCorrupt, text, "on purpose");
    case 8: return fail(99, text, "of another kind");
    case 9: encoding->count = 1; break;
    default: write_empty_file(encoding);
  }
  return DecodeStatusOK;
}

static bool can_encode(void) { return true; }

// Starts a decoder as a renderer that has closed its standard streams, or more. Returns 0 if it is greeted.
static int render(const char *program, int closed) {
  for (int descriptor = 0; descriptor < closed; descriptor++) close(descriptor);
  char *arguments[] = {"hostile-decode", NULL};
  DecodeHello hello;
  pid_t process;
  int socket = decode_spawn(program, arguments, &process);
  return socket < 0 || decode_receive(socket, &hello, sizeof hello, 30000, NULL) < 0;
}

// Passes an image to a decoder, and waits forever. Returns if that fails.
static int render_and_wait(const char *program, const char *name) {
  char image[64] = {0};
  int length = snprintf(image, sizeof image, "\x1f\x8b\x08 open %s ", name);
  char *arguments[] = {"hostile-decode", NULL};
  DecodeHello hello;
  pid_t process;
  int socket = decode_spawn(program, arguments, &process);
  int memory = decode_memory(sizeof image);
  if (socket < 0 || memory < 0 || decode_receive(socket, &hello, sizeof hello, 30000, NULL) < 0) return 1;
  if (pwrite(memory, image, sizeof image, 0) < 0) return 1;
  DecodeRequest request = {.number = 1, .step = DecodeStepOpen, .format = DecodeFormatSVG};
  request.byteCount = (uint64_t)length;
  if (decode_send(socket, &request, sizeof request, memory) < 0) return 1;
  printf("%15d\n", process);
  fflush(stdout);
  for (;;) pause();
}

static void copy_profile(Image image, uint8_t *bytes) { (void)image, (void)bytes; }
static void close_image(Image image) { (void)image; }

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "--render") == 0) return render(arguments[0], atoi(arguments[2]));
  if (count == 3 && strcmp(arguments[1], "--wait") == 0) return render_and_wait(arguments[0], arguments[2]);
  static const Format hostile = {
      .id = DecodeFormatSVG, .library = library, .open = open_image, .copy_profile = copy_profile,
      .decode = decode_image, .close = close_image, .start_threads = start_thread};
  static const Format encoder = {
      .id = DecodeFormatAVIF, .library = library, .open = open_image, .copy_profile = copy_profile,
      .list_durations = list_durations, .decode = decode_image, .close = close_image, .encode = encode,
      .can_encode = can_encode};
  const Format *const formats[DecodeFormatCount] = {[DecodeFormatSVG] = &hostile, [DecodeFormatAVIF] = &encoder};
  return decoder_main(count, arguments, formats);
}
