#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

bool enter_namespaces(bool opens_fonts, bool leaves_network) {
  // A new network takes the kernel much longer than the others.
  const int spaces = CLONE_NEWNS | (leaves_network ? CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS : 0);
  uid_t user = geteuid();
  gid_t group = getegid();
  // A process without privileges gets them, inside, from a new user namespace.
  return unshare(CLONE_NEWUSER | spaces) == 0 && keep_user(user, group) && replace_root(opens_fonts);
}
