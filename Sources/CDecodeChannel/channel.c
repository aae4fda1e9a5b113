#include "CDecodeChannel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Room for one descriptor, aligned as the header of control data must be.
typedef union Control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
} Control;

int decode_send(int socket, const void *message, size_t size, int descriptor) {
  struct iovec part = {.iov_base = (void *)message, .iov_len = size};
  Control control = {0};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)size ? 0 : -1;
}

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Waits until there is a message, or the other end has closed. Returns 0 or -1.
static int wait_for_message(int socket, int timeout) {
  int64_t end = milliseconds() + timeout;
  for (;;) {
    int64_t rest = timeout < 0 ? -1 : end - milliseconds();
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    int count = poll(&ready, 1, timeout < 0 ? -1 : (int)(rest > 0 ? rest : 0));
    if (count > 0) return 0;
    if (count < 0 && errno != EINTR) return -1;
    if (timeout >= 0 && milliseconds() >= end) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
}

// Returns the descriptor in the control data, or -1. Closes all but the first one: whatever the buffer has room for
// belongs to this process now.
static int take_descriptor(struct msghdr *header) {
  int first = -1;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < count; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(part) + index * sizeof descriptor, sizeof descriptor);
      if (first < 0) {
        first = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  return first;
}

int decode_receive(int socket, void *message, size_t size, int timeout, int *descriptor) {
  if (wait_for_message(socket, timeout) < 0) return -1;
  struct iovec part = {.iov_base = message, .iov_len = size};
  Control control = {0};
  // The length is that of one descriptor, without the padding, into which the kernel would put a second one. It drops
  // those for which there is no room, and sets `MSG_CTRUNC`.
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
  ssize_t count;
  do {
    count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  int received = take_descriptor(&header);
  bool isWhole = count == (ssize_t)size && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
  if (!isWhole || (received >= 0 && !descriptor)) {
    if (received >= 0) close(received);
    errno = count == 0 ? EPIPE : EBADMSG;
    return -1;
  }
  if (descriptor) *descriptor = received;
  return 0;
}

int decode_memory(size_t size) {
  int descriptor = memfd_create("thumbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  // Sealed, so that no process can shrink it while the other one reads it, which would be a SIGBUS.
  if (ftruncate(descriptor, (off_t)size) == 0 && fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    return descriptor;
  }
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

int decode_freeze(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
}
