#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

// Ends the process with the status `ENOMEM` if the last failure of this thread was that there is no memory. Otherwise
// the signal does.
static void end(int number) {
  if (errno == ENOMEM) _exit(ENOMEM);
  raise(number);
}

void report_exhaustion(void) {
  // C++ and Rust end the process by SIGABRT, GLib by SIGTRAP, and libjxl by SIGILL.
  static const int signals[] = {SIGABRT, SIGTRAP, SIGILL};
  struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESETHAND};
  for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) sigaction(signals[index], &action, NULL);
}
