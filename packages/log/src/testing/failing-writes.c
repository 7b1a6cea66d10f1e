/*
 * Preloaded by a test: the nth write to a segment, counted over the process, fails with EIO, and
 * the writes that come to the same descriptor afterwards are counted and let through, as a disk
 * would that works again. Only descriptors that are open with O_DSYNC count: the log writes its
 * headers and batches through these and prepares room through others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static int failed_descriptor = -1;

static void report(const char *line) {
  const char *path = getenv("FAILING_WRITES_REPORT");
  FILE *file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  fputs(line, file);
  fclose(file);
}

static int must_fail(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1 || (flags & O_DSYNC) == 0) return 0;
  pthread_mutex_lock(&mutex);
  count += 1;
  int fails = count == atol(getenv("FAILING_WRITES_NTH"));
  int again = descriptor == failed_descriptor;
  if (fails) failed_descriptor = descriptor;
  pthread_mutex_unlock(&mutex);
  if (fails) report("failed\n");
  if (again) report("written again\n");
  return fails;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_OR(call) \
  if (must_fail(descriptor)) { errno = EIO; return -1; } \
  return call

ssize_t write(int descriptor, const void *bytes, size_t length) {
  FAIL_OR(NEXT(write)(descriptor, bytes, length));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  FAIL_OR(NEXT(pwrite)(descriptor, bytes, length, offset));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
  FAIL_OR(NEXT(pwrite64)(descriptor, bytes, length, offset));
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int partCount, off_t offset) {
  FAIL_OR(NEXT(pwritev)(descriptor, parts, partCount, offset));
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int partCount, off64_t offset) {
  FAIL_OR(NEXT(pwritev64)(descriptor, parts, partCount, offset));
}
