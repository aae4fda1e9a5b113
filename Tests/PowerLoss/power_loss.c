#define _GNU_SOURCE

#include "power_loss.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { sector = 512 };

/// An unsynced change of a file: bytes, or a new length.
typedef struct Change {
  struct Change *next;
  sqlite3_int64 offset;
  int length; // -1: the file is cut at `offset`
  unsigned char bytes[];
} Change;

/// The unsynced changes of one file, of all its connections, and the copy.
typedef struct Record {
  struct Record *next;
  char *path;
  int copy;
  Change *first, **end;
} Record;

typedef struct {
  sqlite3_file base;
  Record *record; // null for files that are not tracked
} File;

static sqlite3_vfs layer, *system_vfs;
static char folder[1000];
static Record *records;
static int countdown = -1;
static unsigned seed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((File *)file + 1); }

static unsigned next_random(void) {
  seed = seed * 1664525 + 1013904223;
  return seed >> 16;
}

static void write_copy(int copy, const void *bytes, size_t count, sqlite3_int64 offset) {
  if (pwrite(copy, bytes, count, offset) != (ssize_t)count) abort();
}

/// Applies a change to the copy: each sector with a chance of `odds` in 4.
static void apply(const Record *record, const Change *change, unsigned odds) {
  if (change->length < 0) {
    if (next_random() % 4 < odds && ftruncate(record->copy, change->offset) != 0) abort();
    return;
  }
  for (int start = 0, count; start < change->length; start += count) {
    count = sector - (int)((change->offset + start) % sector);
    if (count > change->length - start) count = change->length - start;
    if (next_random() % 4 < odds) write_copy(record->copy, change->bytes + start, count, change->offset + start);
  }
}

static void empty(Record *record, unsigned odds) {
  for (Change *change = record->first, *next; change; change = next) {
    next = change->next;
    apply(record, change, odds);
    free(change);
  }
  record->first = NULL;
  record->end = &record->first;
}

/// Counts an operation. The last one cuts the power.
static void tick(void) {
  if (countdown < 0 || countdown-- > 0) return;
  unsigned odds = next_random() % 4;
  for (Record *record = records; record; record = record->next) empty(record, odds);
  kill(getpid(), SIGKILL);
}

static void note(Record *record, const void *bytes, int length, sqlite3_int64 offset) {
  if (!record) return;
  pthread_mutex_lock(&mutex);
  Change *change = malloc(sizeof *change + (length > 0 ? length : 0));
  if (!change) abort();
  *change = (Change){NULL, offset, length};
  if (length > 0) memcpy(change->bytes, bytes, length);
  *record->end = change;
  record->end = &change->next;
  tick();
  pthread_mutex_unlock(&mutex);
}

static void copy_whole(const char *path, int copy) {
  char bytes[1 << 16];
  int source = open(path, O_RDONLY | O_CLOEXEC);
  sqlite3_int64 offset = 0;
  for (ssize_t count; source >= 0 && (count = read(source, bytes, sizeof bytes)) > 0; offset += count) {
    write_copy(copy, bytes, count, offset);
  }
  if (source >= 0) close(source);
}

/// Returns the record of a file. Makes one with a copy of the contents at the first call for that file.
static Record *record_of(const char *path) {
  for (Record *record = records; record; record = record->next) {
    if (strcmp(record->path, path) == 0) return record;
  }
  Record *record = calloc(1, sizeof *record);
  if (!record || !(record->path = strdup(path))) abort();
  const char *name = strrchr(path, '/') + 1, *parent = name - 1;
  while (parent > path && parent[-1] != '/') parent--;
  char copy[2000];
  snprintf(copy, sizeof copy, "%s/%.*s-%s", folder, (int)(name - 1 - parent), parent, name);
  record->copy = open(copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (record->copy < 0) abort();
  copy_whole(path, record->copy);
  record->end = &record->first;
  record->next = records;
  return records = record;
}

static int layer_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int layer_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int layer_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  note(((File *)file)->record, bytes, count, offset);
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int layer_truncate(sqlite3_file *file, sqlite3_int64 size) {
  note(((File *)file)->record, NULL, -1, size);
  return real(file)->pMethods->xTruncate(real(file), size);
}

static int layer_sync(sqlite3_file *file, int flags) {
  Record *record = ((File *)file)->record;
  if (record) {
    pthread_mutex_lock(&mutex);
    tick();
    empty(record, 4);
    pthread_mutex_unlock(&mutex);
  }
  return real(file)->pMethods->xSync(real(file), flags);
}

static int layer_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
static int layer_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int layer_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int layer_check_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int layer_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int layer_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int layer_device(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int layer_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}
static int layer_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void layer_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int layer_unmap(sqlite3_file *file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {
    2, layer_close, layer_read, layer_write, layer_truncate, layer_sync, layer_size, layer_lock, layer_unlock,
    layer_check_lock, layer_control, layer_sector, layer_device, layer_map, layer_shm_lock, layer_barrier, layer_unmap,
    NULL, NULL};

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
  (void)vfs;
  File *own = (File *)file;
  *own = (File){0};
  int code = system_vfs->xOpen(system_vfs, name, real(file), flags, result);
  if (real(file)->pMethods) own->base.pMethods = &methods;
  if (code == SQLITE_OK && name && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) {
    pthread_mutex_lock(&mutex);
    own->record = record_of(name);
    pthread_mutex_unlock(&mutex);
  }
  return code;
}

int power_loss_install(const char *path) {
  snprintf(folder, sizeof folder, "%s", path);
  system_vfs = sqlite3_vfs_find(NULL);
  layer = *system_vfs;
  layer.zName = "power-loss";
  layer.szOsFile += sizeof(File);
  layer.xOpen = layer_open;
  return sqlite3_vfs_register(&layer, 1);
}

void power_loss_after(int operations, unsigned start) {
  pthread_mutex_lock(&mutex);
  countdown = operations;
  seed = start;
  pthread_mutex_unlock(&mutex);
}
