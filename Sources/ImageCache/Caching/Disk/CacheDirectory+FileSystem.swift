import CStatfs

extension CacheDirectory {
  /// Magic numbers from `statfs(2)` of network and FUSE file systems, whose locks and shared memory do not meet the
  /// needs of SQLite's write-ahead log.
  static let remoteFileSystems: [UInt32: String] = [
    0x0000_6969: "NFS", 0x0000_517b: "SMB", 0xff53_4d42: "CIFS", 0xfe53_4d42: "SMB2", 0x0102_1997: "9P",
    0x6573_5546: "FUSE", 0x00c3_6400: "Ceph", 0x5346_414f: "AFS", 0x7375_7245: "Coda", 0x0bd0_0bd0: "Lustre",
  ]

  /// Throws an error if the directory is on a network file system.
  func checkFileSystem() throws(DiskCacheError) {
    var status = statfs()
    guard statfs(path, &status) == 0 else { throw DiskCacheError(systemCall: "statfs", path: path) }
    if let name = Self.remoteFileSystems[UInt32(truncatingIfNeeded: status.f_type)] {
      throw DiskCacheError(
        .networkFileSystem, "\(path) is on \(name), where a shared cache is not safe; the disk cache is off.")
    }
  }
}
