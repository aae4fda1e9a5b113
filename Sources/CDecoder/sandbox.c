// Closes the sandbox: namespaces, Landlock, privileges and limits, and the filter of filter.c.

#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The directories with the fonts of the system, what is needed to find one, and the encodings of text in PDF documents.
// NULL ends the list.
static const char *const font_directories[] = {
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts", "/var/cache/fontconfig",
    "/usr/share/poppler", NULL};

// MARK: Namespaces

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t written = write(file, text, strlen(text));
  close(file);
  return written > 0;
}

// Makes the new user namespace know the user and the group (user_namespaces(7)), who could create no directory without.
static bool keep_user(uid_t user, gid_t group) {
  char users[32], groups[32];
  snprintf(users, sizeof users, "0 %u 1", user);
  snprintf(groups, sizeof groups, "0 %u 1", group);
  return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
         write_text("/proc/self/gid_map", groups);
}

// Creates the directories of a path below the current directory, which is the new root.
static bool make_directories(const char *path) {
  char part[PATH_MAX];
  for (const char *end = strchr(path, '/');; end = strchr(end + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", end ? (int)(end - path) : PATH_MAX - 1, path);
    if (mkdir(part, 0755) < 0 && errno != EEXIST) return false;
    if (!end) return true;
  }
}

// Shows the fonts of the system in the new root, at the same paths; a directory that is missing needs none.
static bool show_fonts(void) {
  for (size_t index = 0; font_directories[index]; index++) {
    const char *path = font_directories[index], *target = path + 1;
    if (access(path, F_OK) < 0) continue;
    if (!make_directories(target) || mount(path, target, NULL, MS_BIND | MS_REC, NULL) < 0) return false;
  }
  return true;
}

// Makes a read-only directory, with nothing but fonts, the root of the file system.
static bool replace_root(bool opens_fonts) {
  return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=755") == 0 &&
         chdir("/tmp") == 0 && (!opens_fonts || show_fonts()) && syscall(SYS_pivot_root, ".", ".") == 0 &&
         umount2(".", MNT_DETACH) == 0 && chdir("/") == 0 &&
         mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

// Hides files, except fonts if `opens_fonts`, and the network if `leaves_network`. Returns true if that holds from now
// on.
static bool enter_namespaces(bool opens_fonts, bool leaves_network) {
  // A new network takes the kernel much longer than the others.
  const int spaces = CLONE_NEWNS | (leaves_network ? CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS : 0);
  uid_t user = geteuid();
  gid_t group = getegid();
  // A process without privileges gets them, inside, from a new user namespace.
  return unshare(CLONE_NEWUSER | spaces) == 0 && keep_user(user, group) && replace_root(opens_fonts);
}

// MARK: Landlock

// Landlock (landlock(7)) has no functions in the C library.
static int create_ruleset(const struct landlock_ruleset_attr *attributes, size_t size, uint32_t flags) {
  return (int)syscall(SYS_landlock_create_ruleset, attributes, size, flags);
}

// Every access to files that the first version knows, and in later versions truncation and moves.
static uint64_t known_accesses(int version) {
  uint64_t accesses = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2) accesses |= UINT64_C(1) << 13;
  if (version >= 3) accesses |= UINT64_C(1) << 14;
  return accesses;
}

// Lets the process read the files below `path`; a directory that is missing needs no rule.
static bool allow_reading(int ruleset, const char *path) {
  int directory = open(path, O_PATH | O_CLOEXEC);
  if (directory < 0) return errno == ENOENT;
  struct landlock_path_beneath_attr rule = {
      .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, .parent_fd = directory};
  bool isAdded = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  close(directory);
  return isAdded;
}

static bool allow_fonts(int ruleset) {
  for (size_t index = 0; font_directories[index]; index++) {
    if (!allow_reading(ruleset, font_directories[index])) return false;
  }
  return true;
}

static int find_version(void) { return create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION); }

static bool has_landlock(void) { return find_version() >= 1; }

// Keeps files from being opened, except fonts if `opens_fonts`. Returns true if that holds from now on.
static bool restrict_files(bool opens_fonts) {
  int version = find_version();
  if (version < 1) return false;
  struct landlock_ruleset_attr attributes = {.handled_access_fs = known_accesses(version)};
  int ruleset = create_ruleset(&attributes, sizeof attributes.handled_access_fs, 0);
  if (ruleset < 0) return false;
  bool isRestricted =
      (!opens_fonts || allow_fonts(ruleset)) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return isRestricted;
}

// MARK: Privileges

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

// MARK: Limits

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

// MARK: Closing

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
