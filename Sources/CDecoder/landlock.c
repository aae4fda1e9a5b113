#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

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

const char *const font_directories[] = {
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts", "/var/cache/fontconfig", NULL};

static bool allow_fonts(int ruleset) {
  for (size_t index = 0; font_directories[index]; index++) {
    if (!allow_reading(ruleset, font_directories[index])) return false;
  }
  return true;
}

static int find_version(void) { return create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION); }

bool has_landlock(void) { return find_version() >= 1; }

bool restrict_files(bool opens_fonts) {
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
