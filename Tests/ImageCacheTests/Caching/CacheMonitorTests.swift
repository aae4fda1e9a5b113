import Glibc
import Logging
import Synchronization
import Testing

@testable import ImageCache

@Suite("Failures in the log of a cache")
struct CacheMonitorTests {
  /// Records the metadata of the last message.
  private final class Record: Sendable {
    let metadata = Mutex<Logger.Metadata>([:])
  }

  private struct Recorder: LogHandler {
    let record: Record
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      record.metadata.withLock { [metadata = event.metadata ?? [:]] in $0 = metadata }
    }
  }

  private func isLoggedAsOff(_ error: DiskCacheError) -> Bool {
    let record = Record()
    CacheMonitor(logger: Logger(label: "test") { _ in Recorder(record: record) }).record(error)
    return record.metadata.withLock { $0["code"] != nil && $0["cache"] == "off" }
  }

  @Test(arguments: [EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP])
  func `A failure that lasts says that the cache is off`(number: Int32) {
    errno = number
    #expect(isLoggedAsOff(DiskCacheError(systemCall: "open", path: "/c")))
  }

  @Test(arguments: [EMFILE, ENFILE, EIO, ENOMEM, EINTR, ENOSPC, EDQUOT])
  func `A failure that may pass does not`(number: Int32) {
    errno = number
    #expect(!isLoggedAsOff(DiskCacheError(systemCall: "open", path: "/c")))
  }

  @Test func `A network file system and a newer schema last, and other causes may pass`() {
    let lasting = DiskCacheError.Code.allCases.filter { isLoggedAsOff(DiskCacheError($0, "No.")) }
    #expect(lasting == [.newerSchema, .networkFileSystem])
  }

  @Test func `On a network file system, a cache uses memory only, creates nothing, and logs that at once`() throws {
    let (record, place) = (Record(), try CachePlace())
    let nfs = FileSystem(name: "NFS", kind: .remote, isReadOnly: false, availableBytes: 1 << 40, totalBytes: 1 << 41)
    let cache = ThumbnailCache(
      .init(directory: place.path), in: CacheDirectory(path: place.path, fileSystem: { _ in nfs }),
      logger: Logger(label: "test") { _ in Recorder(record: record) })
    #expect(record.metadata.withLock { $0["cache"] == "off" && $0["code"] == "network_file_system" })

    cache.store(0..<10)
    cache.flush()
    #expect(cache.checkedHits(0..<10) == 10)
    #expect(cache.counters.errors == [.networkFileSystem: 1])
    #expect(place.files.isEmpty)
  }
}
