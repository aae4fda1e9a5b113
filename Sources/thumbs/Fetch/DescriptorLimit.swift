import BatchFetch
import Glibc

/// How many files and connections the process may have open.
struct DescriptorLimit: Hashable, Sendable {
  /// The number; nil where there is no limit.
  let count: Int?

  /// What a run has open without any connection: streams, the manifest, the report, a thumbnail, the cache's database
  /// and its readers, and libcurl's own.
  private static let others = 40

  /// Raises the limit as far as the system allows. The usual 1,024 are there for programs that use `select`; a run with
  /// many connections would fail for want of more.
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

  /// The most connections that leave room for everything else, at least one.
  var connections: Int { count.map { max(1, $0 - Self.others) } ?? .max }
}
