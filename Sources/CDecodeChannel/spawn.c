#include "CDecodeChannel.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

// Sets up the descriptors: /dev/null three times, the socket, and no other.
static int add_descriptors(posix_spawn_file_actions_t *actions, int socket) {
  for (int standard = 0; standard < 3; standard++) {
    int failure = posix_spawn_file_actions_addopen(actions, standard, "/dev/null", O_RDWR, 0);
    if (failure) return failure;
  }
  int failure = posix_spawn_file_actions_adddup2(actions, socket, DecodeSocket);
  return failure ? failure : posix_spawn_file_actions_addclosefrom_np(actions, DecodeSocket + 1);
}

// Gives the process the default signals, in a separate group: a Ctrl-C in the terminal is for the renderer, which
// ends its decoders by itself.
static int set_signals(posix_spawnattr_t *attributes) {
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  return posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

// A process to start. Valid until `isDone`.
typedef struct Order {
  const char *path;
  char *const *arguments;
  int socket;
  pid_t *process;
  int failure;
  bool isDone;
  struct Order *next;
} Order;

static int spawn(const char *path, char *const *arguments, int socket, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char *environment[] = {NULL};
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  failure = posix_spawnattr_init(&attributes);
  if (!failure) {
    failure = add_descriptors(&actions, socket);
    if (!failure) failure = set_signals(&attributes);
    if (!failure) failure = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Order *orders;
// The process that has the thread which starts processes; another one after fork(2).
static pid_t owner;

static void *carry_out_orders(void *nothing) {
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (!orders) pthread_cond_wait(&changed, &mutex);
    Order *order = orders;
    orders = order->next;
    pthread_mutex_unlock(&mutex);
    int failure = spawn(order->path, order->arguments, order->socket, order->process);
    pthread_mutex_lock(&mutex);
    order->failure = failure;
    order->isDone = true;
    pthread_cond_broadcast(&changed);
  }
  return nothing;
}

// Starts the thread, which takes no signals. Returns an error number.
static int start_thread(void) {
  if (owner == getpid()) return 0;
  pthread_t thread;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failure = pthread_create(&thread, NULL, carry_out_orders, NULL);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (failure) return failure;
  pthread_detach(thread);
  owner = getpid();
  return 0;
}

// Starts a process from a thread that lasts as long as this process. A process ends with the thread that has started
// it (`PR_SET_PDEATHSIG`, prctl(2)), and threads that render may end at any time. Returns an error number.
static int order(Order *order) {
  pthread_mutex_lock(&mutex);
  int failure = start_thread();
  if (!failure) {
    order->next = orders;
    orders = order;
    pthread_cond_broadcast(&changed);
    while (!order->isDone) pthread_cond_wait(&changed, &mutex);
    failure = order->failure;
  }
  pthread_mutex_unlock(&mutex);
  return failure;
}

// Creates the sockets, above the descriptors that the new process has. A program that has closed its standard streams
// gets the numbers 0 to 2 for new sockets, which the new process would overwrite. Returns 0, or -1 with `errno`.
static int make_sockets(int sockets[2]) {
  int low[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low) < 0) return -1;
  int failure = 0;
  for (int end = 0; end < 2; end++) {
    sockets[end] = fcntl(low[end], F_DUPFD_CLOEXEC, DecodeSocket + 1);
    if (sockets[end] < 0) failure = errno;
    close(low[end]);
  }
  if (!failure) return 0;
  for (int end = 0; end < 2; end++) {
    if (sockets[end] >= 0) close(sockets[end]);
  }
  errno = failure;
  return -1;
}

int decode_spawn(const char *path, char *const *arguments, pid_t *process) {
  int sockets[2];
  if (make_sockets(sockets) < 0) return -1;
  int failure = order(&(Order){.path = path, .arguments = arguments, .socket = sockets[1], .process = process});
  close(sockets[1]);
  if (!failure) return sockets[0];
  close(sockets[0]);
  errno = failure;
  return -1;
}
