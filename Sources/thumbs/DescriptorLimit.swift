import ArgumentParser
import Glibc

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
