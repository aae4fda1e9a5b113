// Reports the slow path of Swift's Mutex to the thread sanitizer.
//
// On Linux, the kernel hands over a contended Synchronization.Mutex (FUTEX_LOCK_PI), or a loop in
// libswiftSynchronization acquires it. That library is not built with the sanitizer, which therefore sees neither, and
// reports accesses under a contended Mutex as races. The functions below replace those of the library because they are
// loaded first (LD_PRELOAD). They call the originals and report the operation to the sanitizer. The fast paths are
// inlined into the code under test, where the sanitizer sees them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFTCALL __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))

// Weak, because processes without the sanitizer start with the same environment.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// _MutexHandle._lockSlow(_: UInt32)
static const char lockSlow[] = "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF";
// _MutexHandle._tryLockSlow() -> Bool
static const char tryLockSlow[] = "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF";
// _MutexHandle._unlockSlow()
static const char unlockSlow[] = "$s15Synchronization12_MutexHandleV11_unlockSlowyyF";

SWIFTCALL void interposed_lock(uint32_t thread, CONTEXT void *self) __asm__(
    "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFTCALL _Bool interposed_tryLock(CONTEXT void *self) __asm__(
    "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFTCALL void interposed_unlock(CONTEXT void *self) __asm__(
    "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFTCALL void interposed_lock(uint32_t thread, CONTEXT void *self) {
  SWIFTCALL void (*lock)(uint32_t, CONTEXT void *) = dlsym(RTLD_NEXT, lockSlow);
  lock(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFTCALL _Bool interposed_tryLock(CONTEXT void *self) {
  SWIFTCALL _Bool (*tryLock)(CONTEXT void *) = dlsym(RTLD_NEXT, tryLockSlow);
  _Bool isLocked = tryLock(self);
  if (isLocked && __tsan_acquire) __tsan_acquire(self);
  return isLocked;
}

SWIFTCALL void interposed_unlock(CONTEXT void *self) {
  SWIFTCALL void (*unlock)(CONTEXT void *) = dlsym(RTLD_NEXT, unlockSlow);
  if (__tsan_release) __tsan_release(self);
  unlock(self);
}
