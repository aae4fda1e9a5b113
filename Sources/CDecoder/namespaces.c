#include "sandbox.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

// Makes an empty, read-only directory the root of the file system.
static bool empty_root(void) {
  return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k") == 0 && chdir("/tmp") == 0 &&
         syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir("/") == 0 &&
         mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

bool enter_namespaces(void) {
  const int spaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  // A process without privileges gets them, inside, from a new user namespace.
  return unshare(CLONE_NEWUSER | spaces) == 0 && empty_root();
}
