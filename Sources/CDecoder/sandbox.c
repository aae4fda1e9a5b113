#include "sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Gives up the capabilities that root has, also inside a container (capset(2)). Of this thread only: those that exist
// already keep theirs, and those that start later have none.
static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  syscall(SYS_capset, &header, none);
}

static bool drop_privileges(void) {
  // Nobody may trace this process or read its memory.
  prctl(PR_SET_DUMPABLE, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// Sets a limit. One that is lower already stays.
static bool limit(int resource, uint64_t value) {
  struct rlimit limits;
  if (getrlimit(resource, &limits) < 0) return false;
  limits.rlim_max = value < limits.rlim_max ? value : limits.rlim_max;
  limits.rlim_cur = limits.rlim_max;
  return setrlimit(resource, &limits) == 0;
}

static bool set_limits(const DecoderSettings *settings) {
  enum { DESCRIPTORS = 64 };
  // The renderer has its own deadline for each image, and replaces the process before it reaches the limit of processor
  // time. That is for a renderer that was killed while this process decodes.
  return limit(RLIMIT_AS, settings->memory) && limit(RLIMIT_CPU, settings->seconds) &&
         limit(RLIMIT_NOFILE, DESCRIPTORS) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CORE, 0) &&
         limit(RLIMIT_NPROC, 0);
}

bool has_one_thread(void) {
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return false;
  int count = 0;
  for (struct dirent *entry = readdir(threads); entry; entry = readdir(threads)) count += entry->d_name[0] != '.';
  closedir(threads);
  return count == 1;
}

// Makes the system end this process first if it runs out of memory.
static void volunteer_to_end(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t written = write(file, "1000", 4);
  (void)written;
  close(file);
}

uint32_t close_files(bool opens_fonts) {
  volunteer_to_end();
  // Threads that exist already would keep their access to files.
  bool is_alone = has_one_thread();
  // Landlock keeps files from being opened, but not their names from being found.
  bool is_hidden = is_alone && enter_namespaces(opens_fonts, !has_landlock());
  if (!drop_privileges()) return 0;
  uint32_t protections = DecodeProtectionNoNewPrivileges | (is_hidden ? DecodeProtectionNamespaces : 0);
  if (is_alone && restrict_files(opens_fonts)) protections |= DecodeProtectionLandlock;
  // Entering namespaces may have needed them; no library does, and its threads must not inherit them.
  drop_capabilities();
  return protections;
}

// Makes the system end this process when the renderer ends. A process that an image has taken over would not notice the
// end of the socket, and cannot undo this. The kernel forgets it when the credentials change, so this comes after that.
// A renderer that has ended before has sent no image.
static void end_with_renderer(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

uint32_t close_sandbox(bool opens_fonts, const DecoderSettings *settings, uint32_t protections) {
  report_exhaustion();
  end_with_renderer();
  if (set_limits(settings)) protections |= DecodeProtectionLimits;
  // Without Landlock, the filter has to forbid to open any file.
  bool may_open = opens_fonts && (protections & DecodeProtectionLandlock);
  if (filter_system_calls(may_open)) protections |= DecodeProtectionSystemCalls;
  return protections;
}

bool is_enough(uint32_t protections) {
  // Without Landlock, the filter forbids to open any file. Nothing replaces the filter: without it, the process could
  // reach the network and other processes.
  const uint32_t needed =
      DecodeProtectionNoNewPrivileges | DecodeProtectionLimits | DecodeProtectionSystemCalls;
  return (protections & needed) == needed;
}

void decoder_close_sandbox(const DecoderSettings *settings, DecodeHello *hello) {
  hello->protections = close_sandbox(false, settings, close_files(false));
  hello->isProtected = is_enough(hello->protections);
  hello->hasFilter = has_filter();
}
