import Glibc

/// The limits on the memory of this process, in bytes.
package struct MemoryLimits: Hashable, Sendable {
  /// The memory of the machine; nil if unknown.
  package var machine: Int?
  /// The limit of the control group, such as that of a container; nil if there is none.
  package var group: Int?
  /// The limit on the address space (`ulimit -v`); nil if there is none.
  package var addressSpace: Int?

  /// Those of this process, read once.
  static let current = MemoryLimits(root: "")

  /// Creates limits.
  package init(machine: Int?, group: Int?, addressSpace: Int?) {
    (self.machine, self.group, self.addressSpace) = (machine, group, addressSpace)
  }

  /// The smallest of them; nil if all are unknown.
  package var smallest: Int? { [machine, group, addressSpace].compactMap { $0 }.min() }
}

extension MemoryLimits {
  /// Reads the limits of this process. `root` is put in front of the paths of the kernel's files.
  package init(root: String, addressSpace: ResourceLimit = .addressSpace) {
    self.addressSpace = addressSpace.current
    machine = Self.lines("\(root)/proc/meminfo").first { $0.hasPrefix("MemTotal:") }
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }.map { $0 << 10 }
    let files = Self.lines("\(root)/proc/self/cgroup").flatMap { Self.files(of: $0) }
    let limits = files.compactMap { Self.lines("\(root)/sys/fs/cgroup\($0)").first.flatMap { Int($0) } }
    group = limits.filter { $0 < Self.unlimited }.min()
  }

  /// A number that no real limit reaches. Version 1 of control groups has a larger one in place of no limit.
  private static let unlimited = 1 << 62

  /// Returns the files with the limits of the control group that a line of `/proc/self/cgroup` names, and of its
  /// parents, whose limits apply as well (cgroups(7)).
  private static func files(of line: Substring) -> [String] {
    let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [] }
    let isUnified = parts[1].isEmpty
    guard isUnified || parts[1].split(separator: ",").contains("memory") else { return [] }
    let (base, name) = isUnified ? ("", "memory.max") : ("/memory", "memory.limit_in_bytes")
    let groups = parts[2].split(separator: "/")
    return (0...groups.count).map { count in
      base + groups.prefix(count).map { "/\($0)" }.joined() + "/" + name
    }
  }

  /// Returns the lines of a small file; none if it cannot be read. The files of the kernel have no size, so they are
  /// read in one go.
  private static func lines(_ path: String) -> [Substring] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
  }
}
