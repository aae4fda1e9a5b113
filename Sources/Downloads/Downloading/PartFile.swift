internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// The file `NAME.part`, in which a download grows until it is complete and renamed. With `NAME.part.json`, a later
/// process continues it.
///
/// A lock keeps other processes away. In this process, only the latest writer may write: a transfer that was canceled
/// may still deliver bytes while the next one has begun.
final class PartFile: Sendable {
  struct State {
    /// The number of the latest writer.
    var writer = 0
    /// The bytes of an earlier process, until a transfer continues or replaces them.
    var earlier: PartDownload?
    var resumed = 0
    /// True while no other process, and no other downloader, may open the file.
    var isLocked = false
  }

  /// The bytes and the head that an earlier process has left.
  struct PartDownload {
    let head: TransferHead
    let count: Int
  }

  let target: FileTarget
  let descriptor: Int32
  let state: Mutex<State>

  /// Opens or creates the file.
  ///
  /// - Throws: `output_conflict` if another process or download has it, `output_failed` or `output_unavailable` if it
  ///   cannot be opened.
  init(_ target: FileTarget) throws(FetchFailure) {
    descriptor = open(target.partPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    self.target = target
    state = Mutex(State())
    guard descriptor >= 0 else { throw FetchFailure(errno, "cannot be created", target.partPath) }
    guard lock() else { throw inUse }
  }

  /// Makes sure that nobody else has the file. Returns false if another process or downloader has it, or had it and has
  /// given it its name.
  func lock() -> Bool { state.withLock { lock(&$0) } }

  private func lock(_ state: inout State) -> Bool {
    guard !state.isLocked else { return true }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    // Process A opens the file, process B completes and renames it, and then A gets the lock: of the complete file.
    guard hasItsName else {
      flock(descriptor, LOCK_UN)
      return false
    }
    state.isLocked = true
    let count = Int(lseek(descriptor, 0, SEEK_END))
    let record = count > 0 ? PartRecord(path: target.recordPath, request: target.request) : nil
    state.earlier = record.map { PartDownload(head: $0.head, count: count) }
    return true
  }

  private var hasItsName: Bool {
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0, lstat(target.partPath, &named) == 0 else { return false }
    return (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
  }

  private var inUse: FetchFailure {
    FetchFailure(.outputConflict, "\(target.partPath) is being written by another download.")
  }

  /// Lets others have the file, unless a later writer has it. Called before the end of a download is reported: whoever
  /// knows the end may begin the next one.
  func release(by writer: Writer) {
    state.withLock { state in
      guard state.writer == writer.number, state.isLocked else { return }
      // The transfer may still deliver bytes.
      state.writer += 1
      (state.isLocked, state.earlier) = (false, nil)
      flock(descriptor, LOCK_UN)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// True while a download of this process has the file.
  var isInUse: Bool { state.withLock { $0.isLocked } }

  /// The permission to write, until there is a later writer.
  struct Writer: Sendable {
    let file: PartFile
    fileprivate let number: Int

    /// Removes all bytes, and begins with those of the response `head`.
    func restart(_ head: TransferHead) throws(FetchFailure) { try file.restart(head, by: number) }

    /// Writes bytes at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FetchFailure) {
      try file.write(bytes, at: offset, by: number)
    }
  }

  /// Returns a new writer. The earlier ones may not write anymore.
  func makeWriter() -> Writer {
    let number = state.withLock { state in
      // Thread A may have released the file for a download that was canceled, after thread B opened it for this one.
      _ = lock(&state)
      state.writer += 1
      return state.writer
    }
    return Writer(file: self, number: number)
  }

  /// Returns the bytes of an earlier process once, if the rest can be requested.
  func takeEarlier() -> PartialDownload? {
    guard let earlier = state.withLock({ lock(&$0) ? $0.earlier.take() : nil }) else { return nil }
    return PartialDownload(head: earlier.head, body: ReceivedBody(makeWriter(), count: earlier.count))
  }

  /// Notes that the first `count` bytes were there before this download.
  func noteResumed(_ count: Int) { state.withLock { $0.resumed = count } }

  private func restart(_ head: TransferHead, by writer: Int) throws(FetchFailure) {
    try exclusively(writer) { state throws(FetchFailure) in
      (state.resumed, state.earlier) = (0, nil)
      // In this order: a record must never describe bytes of another response.
      unlink(target.recordPath)
      guard ftruncate(descriptor, 0) == 0 else { throw FetchFailure(errno, "cannot be written", target.partPath) }
      guard PartialDownload.isResumable(head) else { return }
      // Without a record, a later process starts over.
      try? PartRecord(request: target.request, head: head).write(to: target.recordPath)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, by writer: Int) throws(FetchFailure) {
    try exclusively(writer) { _ throws(FetchFailure) in
      var count = 0
      while count < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
        let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + count))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw FetchFailure(errno, "cannot be written", target.partPath) }
        count += written
      }
    }
  }

  private func exclusively(
    _ writer: Int, _ body: (inout State) throws(FetchFailure) -> Void
  ) throws(FetchFailure) {
    try state.withLock { state throws(FetchFailure) in
      guard state.writer == writer else { throw .cancelled }
      guard state.isLocked else { throw inUse }
      try body(&state)
    }
  }
}

extension FetchFailure {
  /// Creates the failure of a system call about the file at `path`.
  init(_ code: Int32, _ reason: String, _ path: String) {
    let isTemporary = [ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM].contains(code)
    self.init(
      isTemporary ? .outputUnavailable : .outputFailed, "\(path) \(reason): \(String(cString: strerror(code))).")
  }
}

// MARK: Committing

// The end of a part file: checked, and renamed.
extension PartFile {
  /// Checks the file of `length` bytes, and gives it its name. Reads all of it, and waits for the disk.
  ///
  /// - Throws: `hash_mismatch` if it is not the expected one: then it is removed, and the next download starts over.
  func commit(length: Int) throws(FetchFailure) -> DownloadedFile {
    try state.withLock { state throws(FetchFailure) in
      guard ftruncate(descriptor, off_t(length)) == 0 else {
        throw FetchFailure(errno, "cannot be written", target.partPath)
      }
      let digest = try digest(length)
      do throws(FetchFailure) {
        try target.expected.check(digest, length: length)
      } catch {
        unlink(target.recordPath)
        ftruncate(descriptor, 0)
        unlink(target.partPath)
        throw error
      }
      guard fsync(descriptor) == 0, rename(target.partPath, target.path) == 0 else {
        throw FetchFailure(errno, "cannot be written", target.path)
      }
      // The file with this name is complete: no writer may change it anymore.
      state.writer += 1
      unlink(target.recordPath)
      return DownloadedFile(
        url: URL(filePath: target.path), length: length, digest: digest, resumed: state.resumed)
    }
  }

  private func digest(_ length: Int) throws(FetchFailure) -> BodyDigest {
    let stream = DigestStream()
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while offset < length {
      let count = pread(descriptor, &chunk, min(chunk.count, length - offset), off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FetchFailure(errno, "cannot be read", target.partPath) }
      chunk.withUnsafeBytes { stream.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
    guard let digest = stream.finish() else { throw FetchFailure(ENOMEM, "cannot be checked", target.partPath) }
    return digest
  }
}

/// The file `NAME.part.json`: what a later process must know to continue `NAME.part`.
private struct PartRecord: Codable, Hashable {
  /// The version of the format. A file of another version is not continued.
  static let version = 1
  /// The fields that decide whether the bytes of two responses belong together; none of them is secret.
  private static let kept: [HTTPField.Name] = [
    .eTag, .lastModified, .date, .contentLength, .contentType, .acceptRanges,
  ]

  var version = Self.version
  /// Identifies the request; see ``DownloadRequest/fileIdentity(_:)``.
  let request: String
  /// Identifies the start of the system. After a crash of the system, a file may have holes.
  let boot: String
  let finalURL: String?
  let fields: [[String]]

  init(request: String, head: TransferHead) {
    self.request = request
    boot = Self.boot
    finalURL = head.finalURL
    fields = head.response.headerFields.filter { Self.kept.contains($0.name) }.map {
      [$0.name.canonicalName, $0.value]
    }
  }

  /// Reads the file at `path`. Nil if it has no record, one of another request, or one of an earlier start of the
  /// system.
  init?(path: String, request: String) {
    guard let data = try? Data(contentsOf: URL(filePath: path)),
      let record = try? JSONDecoder().decode(PartRecord.self, from: data),
      record.version == Self.version, record.request == request, record.boot == Self.boot
    else { return nil }
    self = record
  }

  /// The head of the response that the bytes are from.
  var head: TransferHead {
    var response = HTTPResponse(status: .ok)
    for field in fields where field.count == 2 {
      if let name = HTTPField.Name(field[0]) { response.headerFields.append(HTTPField(name: name, value: field[1])) }
    }
    return TransferHead(response: response, finalURL: finalURL)
  }

  /// Writes the record to the file at `path`, which only its owner may read: URLs after redirects may be signed.
  func write(to path: String) throws {
    let data = try JSONEncoder().encode(self)
    let (temporary, mode) = (path + ".new", 0o600)
    guard FileManager.default.createFile(atPath: temporary, contents: data, attributes: [.posixPermissions: mode]),
      rename(temporary, path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }

  private static let boot =
    (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
    .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

extension DownloadRequest {
  /// Returns a text that is the same for requests that get the same bytes. Secrets are in it as a digest only.
  func fileIdentity(_ variant: String) -> String {
    let fields = headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    let modification = modifier.map { ["modifier", $0.id] } ?? []
    let parts = [source.description, source.credentials ?? "", variant] + modification + fields
    return BodyDigest(of: Array(parts.joined(separator: "\n").utf8)).description
  }
}

/// The part files of a downloader, so that callers who request the same file at the same time share one download.
final class PartFiles: Sendable {
  private struct Entry {
    weak var file: PartFile?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// Returns the part file of `target`. May wait for the disk.
  ///
  /// - Throws: The failures of ``PartFile/init(_:)``, and `output_conflict` if the file is being downloaded from
  ///   another URL, or with another expectation.
  func file(_ target: FileTarget) throws(FetchFailure) -> PartFile {
    try entries.withLock { entries throws(FetchFailure) in
      entries = entries.filter { $0.value.file != nil }
      if let known = entries[target.path]?.file {
        if known.target == target, known.lock() { return known }
        if known.isInUse {
          throw FetchFailure(.outputConflict, "\(target.path) is being downloaded by another request.")
        }
      }
      let file = try PartFile(target)
      entries[target.path] = Entry(file: file)
      return file
    }
  }
}
