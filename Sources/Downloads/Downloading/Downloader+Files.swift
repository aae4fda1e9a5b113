public import Foundation
internal import HTTPTypes

extension Downloader {
  /// Starts a download into a file, or joins the one in flight.
  ///
  /// The bytes are written to `NAME.part`, which is renamed when it is complete and checked; a file of that name is
  /// replaced. If the download or the process ends before, the next download of the same request to the same file
  /// continues where it was, as long as the content has not changed (`If-Range`, RFC 9110, section 13.1.5). After a
  /// crash of the system, it starts over.
  ///
  /// Unless ``DownloadRequest/limits`` says otherwise, a file may have any length and take any time, as long as it
  /// keeps coming. A status other than 200 fails with its code, such as `http_404`. Bytes are written on the thread
  /// that serves all transfers: use a separate downloader if the disk may be slower than the network.
  ///
  /// ```swift
  /// let token = downloader.download(request, to: file, expecting: ExpectedFile(digest: digest)) {
  ///   print($0.map { $0.file?.length })
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download. Its inspection is not used, and of ``DownloadRequest/responses`` only
  ///     ``ResponseRules/maxErrorBytes``.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``.
  ///   - queue: where the closures are called, one at a time. Default: a queue of the downloader.
  ///   - progress: receives progress, never after `completion` was called.
  ///   - completion: called exactly once. ``Download/file`` is the file, and
  ///     ``Download/body`` is empty. Fails with `hash_mismatch` if the content is not the expected one, `output_failed`
  ///     or `output_unavailable` if the file cannot be written, and `output_conflict` if another download writes it.
  @discardableResult
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], on queue: DispatchQueue? = nil,
    progress: DownloadProgress.Handler? = nil, completion: @escaping Completion
  ) -> DownloadToken {
    let token = makeToken(
      Demand(priority: request.priority), for: request.source.description, on: queue, progress: progress,
      completion: completion)
    start(request, to: file, expecting: expected, after: dependencies, for: token.caller)
    return token
  }

  /// Downloads the bytes of `request` into a file, as ``download(_:to:expecting:after:on:progress:completion:)`` does.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for. Default: none.
  ///   - progress: the stream that receives progress. It is finished when the download ends. Default nil: none.
  /// - Throws: the failure; `cancelled` if the task is canceled.
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], progress: AsyncStream<DownloadProgress>.Continuation? = nil
  ) async throws(FetchFailure) -> Download {
    defer { progress?.finish() }
    return try await CancellableCall.result { completion in
      WorkHandle(
        download(
          request, to: file, expecting: expected, after: dependencies, progress: progress.handler,
          completion: completion))
    }.get()
  }

  /// Joins the download of `request` into a file, at once or after everything that it waits for.
  func start(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile, after dependencies: [DownloadToken],
    for caller: Caller<Download>
  ) {
    var (ready, milestones) = request.withoutMilestones()
    ready.inspection = nil
    ready.responses = ready.responses.forFiles
    // Part of the identity of the part file, and not that of the configuration, which may be meant for images.
    ready.headerFields = ready.headerFields.accepting(ready.accept)
    let target = context.target(of: ready, file.standardizedFileURL.path(percentEncoded: false), expected)
    if let timeout = request.timeout { caller.limitTime(to: timeout, after: context.after) }
    // Opening a file may wait for the disk. One is opened at a time, so that downloads begin in the order of the calls.
    context.begin(caller, after: milestones + dependencies.map(\.finished), on: context.opening) {
      [ready, context] () throws(FetchFailure) in
      var request = ready
      request.part = try context.parts.file(target)
      return request
    }
  }
}

/// A file that a download has written.
public struct DownloadedFile: Hashable, Sendable {
  /// The file.
  public let url: URL
  /// The length in bytes.
  public let length: Int
  /// The SHA-256 digest, computed from what is on disk.
  public let digest: BodyDigest
  /// The bytes that an earlier process, or an earlier download to the same file, had received.
  public let resumed: Int

  /// Creates the description of a file, for tests of code that shows it.
  public init(url: URL, length: Int, digest: BodyDigest, resumed: Int = 0) {
    self.url = url
    self.length = length
    self.digest = digest
    self.resumed = resumed
  }
}

/// The content that a caller expects of a file. A download of other bytes fails with `hash_mismatch`.
public struct ExpectedFile: Hashable, Sendable {
  /// The SHA-256 digest. Default nil: any.
  public var digest: BodyDigest?
  /// The length in bytes. Default nil: any.
  public var length: Int?

  /// Creates an expectation. By default, every file meets it.
  public init(digest: BodyDigest? = nil, length: Int? = nil) {
    self.digest = digest
    self.length = length
  }

  /// Throws `hash_mismatch` if a file with this content is not the expected one.
  func check(_ digest: BodyDigest, length: Int) throws(FetchFailure) {
    if let expected = self.length, expected != length {
      throw FetchFailure(.hashMismatch, "The file has \(length) bytes, but \(expected) are expected.")
    }
    guard let expected = self.digest, expected != digest else { return }
    throw FetchFailure(hash: digest, expected: expected, httpStatus: nil, attempts: 0)
  }
}

/// A file to be downloaded.
struct FileTarget: Hashable, Sendable {
  /// The absolute path of the complete file.
  let path: String
  /// Identifies the request; see ``DownloadRequest/fileIdentity(_:)``.
  let request: String
  let expected: ExpectedFile

  /// The path of the incomplete file.
  var partPath: String { path + ".part" }
  /// The path of the record about the incomplete file.
  var recordPath: String { partPath + ".json" }
}

/// The body of a response as it arrives, in memory or in a file. A plain value, except that the file is shared.
struct ReceivedBody: Sendable {
  /// The bytes in memory; empty if they are in a file.
  private(set) var bytes: [UInt8]
  /// The number of bytes so far.
  private(set) var count: Int
  /// Nil for a body in memory.
  let writer: PartFile.Writer?

  /// Creates a body in memory.
  init(_ bytes: [UInt8] = []) {
    (self.bytes, count, writer) = (bytes, bytes.count, nil)
  }

  /// Creates a body of `count` bytes in the file of `writer`.
  init(_ writer: PartFile.Writer, count: Int = 0) {
    (bytes, self.count, self.writer) = ([], count, writer)
  }

  /// Begins the body of the response `head`. What a file had is removed.
  mutating func begin(_ head: TransferHead) throws(FetchFailure) {
    try writer?.restart(head)
    (bytes, count) = ([], 0)
  }

  /// Adds bytes.
  mutating func append(_ more: UnsafeRawBufferPointer) throws(FetchFailure) {
    if let writer { try writer.write(more, at: count) } else { bytes.append(contentsOf: more) }
    count += more.count
  }

  /// Reserves memory; does nothing for a file.
  mutating func reserve(_ capacity: Int) {
    if writer == nil { bytes.reserveCapacity(capacity) }
  }

  /// Returns the same bytes, to be continued in the file of `other`.
  func continued(by other: ReceivedBody) -> ReceivedBody {
    other.writer.map { ReceivedBody($0, count: count) } ?? self
  }
}
