// Filters the system calls, with libseccomp.

#include "sandbox.h"

#if __has_include(<seccomp.h>)

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

// The calls that the libraries need once they are loaded: for memory, time, and the socket to the renderer.
static const int allowed[] = {
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(read), SCMP_SYS(close),
    SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(futex),
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
    SCMP_SYS(membarrier), SCMP_SYS(rseq),
};

// Calls that a library tries and can do without. They fail as if they did not exist.
static const int refused[] = {
    SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(prctl), SCMP_SYS(prlimit64),
    SCMP_SYS(getrlimit), SCMP_SYS(ioctl), SCMP_SYS(socket), SCMP_SYS(sched_setaffinity),
};

static bool allow_all(scmp_filter_ctx filter) {
  for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++) {
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[index], 0) < 0) return false;
  }
  return true;
}

// The calls that are allowed if fonts may be opened.
static const int for_fonts[] = {
    SCMP_SYS(openat), SCMP_SYS(getdents64),
    SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
};

static bool is_for_fonts(int call) {
  for (size_t index = 0; index < sizeof for_fonts / sizeof *for_fonts; index++) {
    if (for_fonts[index] == call) return true;
  }
  return false;
}

static bool refuse_all(scmp_filter_ctx filter, bool opens_fonts) {
  for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) {
    if (opens_fonts && is_for_fonts(refused[index])) continue;
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), refused[index], 0) < 0) return false;
  }
  return true;
}

static bool allow_if(scmp_filter_ctx filter, int call, unsigned argument, unsigned bits, unsigned values) {
  struct scmp_arg_cmp condition = SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bits, values);
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition) == 0;
}

static bool refuse_if(scmp_filter_ctx filter, int call, unsigned argument, unsigned bit) {
  struct scmp_arg_cmp condition = SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bit, bit);
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 1, condition) == 0;
}

// Allows memory, but none that the processor would run.
static bool allow_memory(scmp_filter_ctx filter) {
  return allow_if(filter, SCMP_SYS(mmap), 2, PROT_EXEC, 0) && refuse_if(filter, SCMP_SYS(mmap), 2, PROT_EXEC) &&
         allow_if(filter, SCMP_SYS(mprotect), 2, PROT_EXEC, 0) && refuse_if(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
}

// Allows the commands of fcntl that read or copy a descriptor. With others, `F_SETOWN` and `F_SETSIG`, the kernel would
// send a signal to any process when the socket becomes readable.
static bool allow_descriptors(scmp_filter_ctx filter) {
  static const int harmless[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC};
  static const int locks[] = {F_GETLK, F_SETLK, F_SETLKW};
  bool isAllowed = true;
  for (size_t index = 0; index < sizeof harmless / sizeof *harmless; index++) {
    struct scmp_arg_cmp command = SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)harmless[index], 0);
    isAllowed = isAllowed && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, command) == 0;
  }
  for (size_t index = 0; index < sizeof locks / sizeof *locks; index++) {
    struct scmp_arg_cmp command = SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)locks[index], 0);
    isAllowed = isAllowed && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(fcntl), 1, command) == 0;
  }
  return isAllowed;
}

// Allows signals to this process only, with which `abort` ends it.
static bool allow_signals(scmp_filter_ctx filter) {
  struct scmp_arg_cmp process = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, process) == 0;
}

// Lets files be opened for reading; Landlock decides which.
static bool allow_opening(scmp_filter_ctx filter) {
  // Landlock does not apply to O_PATH.
  static const unsigned refused_flags[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_PATH};
  unsigned all = 0;
  for (size_t index = 0; index < sizeof refused_flags / sizeof *refused_flags; index++) {
    if (!refuse_if(filter, SCMP_SYS(openat), 2, refused_flags[index])) return false;
    all |= refused_flags[index];
  }
  // The first of them is openat, whose flags decide.
  for (size_t index = 1; index < sizeof for_fonts / sizeof *for_fonts; index++) {
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, for_fonts[index], 0) < 0) return false;
  }
  return allow_if(filter, SCMP_SYS(openat), 2, all, 0);
}

bool filter_system_calls(bool opens_fonts) {
  // All other calls end the process, also those of another architecture of the same processor.
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (!filter) return false;
  // For the threads that the libraries have started, too.
  bool isLoaded = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && allow_all(filter) &&
                  allow_memory(filter) && allow_descriptors(filter) && allow_signals(filter) &&
                  refuse_all(filter, opens_fonts) && (!opens_fonts || allow_opening(filter)) &&
                  seccomp_load(filter) == 0;
  seccomp_release(filter);
  return isLoaded;
}

bool has_filter(void) { return true; }

#else

bool filter_system_calls(bool opens_fonts) {
  (void)opens_fonts;
  return false;
}

bool has_filter(void) { return false; }

#endif
