import CGlibc
import Foundation

/// The file system of a directory.
public struct FileSystem: Hashable, Sendable {
  /// The kinds of file systems, as far as the disk cache distinguishes them.
  public enum Kind: Hashable, Sendable {
    /// On a disk or in the memory of this machine.
    case local
    /// A network or FUSE file system, on which the disk cache is off.
    case remote
    /// An interface of the kernel, such as `/proc`, in which nobody can create files.
    case virtual
  }

  /// The name, such as `ext4`, or else the number of `statfs(2)` in hexadecimal digits.
  public var name: String
  /// The kind.
  public var kind: Kind
  /// True if nothing on it can be changed.
  public var isReadOnly: Bool
  /// The bytes that this user may still write.
  public var availableBytes: Int
  /// The size of the file system in bytes.
  public var totalBytes: Int

  /// Creates a description from its parts.
  public init(name: String, kind: Kind = .local, isReadOnly: Bool, availableBytes: Int, totalBytes: Int) {
    (self.name, self.kind, self.isReadOnly) = (name, kind, isReadOnly)
    (self.availableBytes, self.totalBytes) = (availableBytes, totalBytes)
  }

  /// True if less space is left than the cache leaves to others: a twentieth of the file system, at most 1 GiB.
  public var isShort: Bool { FileSystemSpace(available: availableBytes, whole: totalBytes).isShort }
}

extension FileSystem {
  /// Examines the file system of `path`; nil if the system call fails.
  public init?(at path: String) {
    var status = statfs()
    guard statfs(path, &status) == 0, let space = FileSystemSpace(at: path) else { return nil }
    let type = UInt32(truncatingIfNeeded: status.f_type)
    let (remote, virtual) = (CacheDirectory.remoteFileSystems[type], Self.virtualNames[type])
    self.init(
      name: remote ?? virtual ?? Self.names[type] ?? "0x" + String(type, radix: 16),
      kind: remote != nil ? .remote : virtual != nil ? .virtual : .local,
      isReadOnly: Int(status.f_flags) & Int(ST_RDONLY) != 0, availableBytes: space.available, totalBytes: space.whole)
  }

  /// Magic numbers from `statfs(2)` of interfaces of the kernel.
  private static let virtualNames: [UInt32: String] = [
    0x9FA0: "proc", 0x6265_6572: "sysfs", 0x0027_E0EB: "cgroup", 0x6367_7270: "cgroup2", 0x1CD1: "devpts",
  ]

  /// Magic numbers from `statfs(2)` of common local file systems.
  private static let names: [UInt32: String] = [
    0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0x0102_1994: "tmpfs", 0x794C_7630: "overlay",
    0x2FC1_2FC1: "zfs", 0xF2F5_2010: "f2fs", 0x8584_58F6: "ramfs",
  ]
}
