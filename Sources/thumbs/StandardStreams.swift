import ArgumentParser
@preconcurrency import Glibc

/// What a process begins and ends with: its standard input, output and error.
enum StandardStreams {
  /// Opens `/dev/null` for each of the three that is closed: a file of the run would get its number, and the text meant
  /// for the stream. A reader of the output that goes away ends the process, even if whoever started it ignores that.
  static func open() {
    signal(SIGPIPE, SIG_DFL)
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = Glibc.open("/dev/null", O_RDWR)
    }
  }

  /// Ends the process with `code`, or with 74 where what it printed cannot be written.
  ///
  /// Threads that render or look up may still be at work, inside libraries that `exit` would tear down under them
  /// (OpenSSL frees its algorithms while a thread computes a digest). So nothing is torn down.
  static func end(_ code: ExitCode) -> Never {
    let isWritten = fflush(stdout) == 0 && ferror(stdout) == 0
    guard isWritten || code != .success else {
      _ = FileDescriptor.writeAll(Array("thumbs: Cannot write standard output.\n".utf8)[...], to: STDERR_FILENO)
      _exit(ExitCode.ioError.rawValue)
    }
    _exit(code.rawValue)
  }
}
