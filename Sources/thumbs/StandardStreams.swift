import ArgumentParser
@preconcurrency import Glibc

/// The beginning and the end of a process, as far as they concern standard input, output and error.
enum StandardStreams {
  /// Gives each of the three that is closed a descriptor that cannot be written: otherwise a file of the run would get its
  /// number, and the text meant for the stream. Restores SIGPIPE, so that a reader that goes away ends the process.
  static func open() {
    signal(SIGPIPE, SIG_DFL)
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = Glibc.open("/dev/null", O_RDONLY)
    }
  }

  /// Puts everything that standard input has left into a file without a name, which becomes standard input. A file stays
  /// as it is.
  static func spoolInput() throws(OutputError) {
    guard FileIdentity(descriptor: STDIN_FILENO) == nil else { return }
    let spool = try FileDescriptor.unnamedFile(in: "/tmp")
    defer { close(spool) }
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      let code = FileDescriptor.writeAll(chunk[..<count], to: spool).code
      if code != 0 { throw OutputError(action: .write, path: "the list from standard input", code: code) }
    }
    lseek(spool, 0, SEEK_SET)
    dup2(spool, STDIN_FILENO)
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
