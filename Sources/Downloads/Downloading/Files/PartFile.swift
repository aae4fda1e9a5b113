internal import Foundation
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

  /// Returns a new writer. The earlier ones may not write any more.
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
