import ArgumentParser
@preconcurrency import Glibc

/// Prepares standard input, output and error, and the signals of writes, at the start of the process, and flushes the
/// streams at its end.
enum StandardStreams {
  /// Opens `/dev/null` for each standard stream that is closed. Otherwise the next file that the run opens would get
  /// that descriptor, and with it the text written to the stream. Input that is closed still cannot be read, and output
  /// cannot be written. Also restores the default action of `SIGPIPE`, so that the process ends when the reader of a
  /// pipe goes away, and ignores `SIGXFSZ`, so that a write above the limit of file sizes (`ulimit -f`) fails with
  /// `EFBIG`.
  static func open() {
    signal(SIGPIPE, SIG_DFL)
    signal(SIGXFSZ, SIG_IGN)
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Copies the rest of standard input to an unlinked temporary file, and makes that standard input. Does nothing if
  /// standard input is a regular file already.
  static func spoolInput() throws(OutputError) {
    guard FileIdentity(descriptor: STDIN_FILENO) == nil else { return }
    let spool = try FileDescriptor.unnamedFile(in: "/tmp")
    defer { close(spool) }
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      try FileDescriptor.write(chunk[..<count], to: spool, path: "the manifest from standard input")
    }
    lseek(spool, 0, SEEK_SET)
    dup2(spool, STDIN_FILENO)
  }

  /// Ends the process with `code`, or with 74 (`EX_IOERR`) if it succeeded but its output could not be written.
  ///
  /// Calls `_exit` rather than `exit`: threads that render or resolve names may still be running inside libraries whose
  /// exit handlers free their state (OpenSSL frees its algorithms while a thread computes a digest).
  static func end(_ code: ExitCode) -> Never {
    let isWritten = fflush(stdout) == 0 && ferror(stdout) == 0
    guard isWritten || code != .success else {
      _ = FileDescriptor.writeAll(Array("thumbs: Cannot write standard output.\n".utf8)[...], to: STDERR_FILENO)
      _exit(ExitCode.ioError.rawValue)
    }
    _exit(code.rawValue)
  }
}

/// The limit on the files and connections that the process may have open.
struct DescriptorLimit: Hashable, Sendable {
  /// The number of descriptors; nil if there is no limit.
  let count: Int?

  /// The number of descriptors that a run needs besides its connections: the standard streams, the manifest, the
  /// report, a thumbnail, the cache's database and its readers, and libcurl's own.
  static let others = 40

  /// Raises the limit. Throws an exit code, after printing a message, if the limit stays below ``others``.
  ///
  /// libdispatch traps if it cannot open `/proc/self/task/*/stat`, from which it learns each second whether its threads
  /// are blocked. A process that runs out of descriptors would therefore end at any point of a write.
  static func require() throws {
    let limit = raise()
    guard let count = limit.count, count < others else { return }
    throw ExitCode.ioError.printing("Only \(count) files may be open (ulimit -n); at least \(others) are necessary.")
  }

  /// Raises the limit as far as the system allows. The usual limit of 1,024 exists for programs that use `select`, and
  /// is too low for a run with many connections.
  @discardableResult
  static func raise() -> DescriptorLimit {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return DescriptorLimit(count: nil) }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = limit.rlim_max
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return DescriptorLimit(count: Int(exactly: limit.rlim_cur))
  }

  /// The number of connections that leaves enough descriptors for everything else, at least 1.
  var connections: Int { count.map { max(1, $0 - Self.others) } ?? .max }
}
