import Glibc

/// How many files and connections the process may have open.
enum DescriptorLimit {
  /// Raises it as far as the system allows. The usual 1,024 are there for programs that use `select`; a run with many
  /// connections would fail for want of more.
  static func raise() {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
  }
}
