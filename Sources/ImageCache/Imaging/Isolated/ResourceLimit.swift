import Glibc

/// A limit of the kernel for this process.
package struct ResourceLimit: Hashable, Sendable {
  /// The limit in force; nil if there is none.
  package var current: Int?
  /// The value to which a process may raise it; nil if there is no bound.
  package var maximum: Int?

  /// Creates a limit.
  package init(current: Int?, maximum: Int?) { (self.current, self.maximum) = (current, maximum) }

  /// The limit on open files and connections.
  package static var descriptors: ResourceLimit {
    ResourceLimit(of: __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)))
  }
  /// The limit on the address space in bytes.
  package static var addressSpace: ResourceLimit { ResourceLimit(of: __rlimit_resource_t(UInt32(RLIMIT_AS.rawValue))) }
}

extension ResourceLimit {
  private init(of resource: __rlimit_resource_t) {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    // "No limit" is the largest unsigned number.
    (current, maximum) = (Int(exactly: limit.rlim_cur), Int(exactly: limit.rlim_max))
  }
}
