internal import CoreMetrics
public import Foundation
public import HTTPTypes
internal import Synchronization

/// A complete response. ``DownloadRequest/responses`` decides which statuses are a success; others are a
/// ``FetchFailure``.
public struct Download: Sendable {
  /// Status and header fields.
  public var response: HTTPResponse
  /// The body, after content decoding: complete if the status is 200 to 299, and otherwise its start, of up to
  /// ``ResponseRules/maxErrorBytes``. Empty if the body is in a file.
  public var body: [UInt8]
  /// The file with the body; nil for a body in memory.
  public var file: DownloadedFile?
  /// The URL that responded, after redirects, without credentials; nil if it is the one requested.
  public var finalURL: String?
  /// The redirects that were followed, in order.
  public var redirects: [Redirect] = []
  /// True if a cache may keep the response for other callers. See ``TransferHead/isCacheable``.
  public var isCacheable = true
  /// True if a server that responded is in a private network. See ``TransferHead/isPrivate``.
  public var isPrivate = false
  /// True if the target of the last redirect was not requested. See ``DownloadRequest/freshTarget``.
  package var isTargetReused = false
  /// The time when the request was sent, by the wall clock.
  public var requestedAt: Date
  /// The time when the head of the response arrived, by the wall clock.
  public var respondedAt: Date
  /// The number of attempts, at least 1: one more after each failure that was retried. Redirects and pauses begin no
  /// new attempt.
  public var attempts: Int
  /// The time that the download waited for its turn and for the IP addresses of its host.
  public var queued: Duration
  /// The time from the first attempt to the end, including pauses between attempts.
  public var elapsed: Duration

  /// Creates a response from its parts, for tests of code that shows or uses it.
  public init(
    response: HTTPResponse, body: [UInt8] = [], file: DownloadedFile? = nil, finalURL: String? = nil,
    redirects: [Redirect] = [], isCacheable: Bool = true, isPrivate: Bool = false, requestedAt: Date = Date(),
    respondedAt: Date = Date(), attempts: Int = 1, queued: Duration = .zero, elapsed: Duration = .zero
  ) {
    self.response = response
    self.body = body
    self.file = file
    self.finalURL = finalURL
    self.redirects = redirects
    self.isCacheable = isCacheable
    self.isPrivate = isPrivate
    self.requestedAt = requestedAt
    self.respondedAt = respondedAt
    self.attempts = attempts
    self.queued = queued
    self.elapsed = elapsed
  }
}

extension Download {
  /// The length of the body in bytes, in memory or in a file.
  public var length: Int { file?.length ?? body.count }

  /// The head of the response, as the transport delivered it.
  package var head: TransferHead {
    var head = TransferHead(
      response: response, finalURL: finalURL, redirects: redirects, isCacheable: isCacheable)
    head.isPrivate = isPrivate
    return head
  }
}

/// The progress of a download, as one caller sees it.
///
/// Within one attempt the count only grows. An attempt after a failure continues from the bytes received before if the
/// server allows it, and otherwise starts from zero. A download that resumes after a pause continues its attempt; if
/// the server sends its first bytes again, nothing is reported until there are more than before.
public struct DownloadProgress: Hashable, Sendable {
  /// Receives progress: immediately if the download is running already, then at most once per interval
  /// (``Downloader/Configuration/progressInterval``), and last, right before the completion, for the whole body.
  public typealias Handler = @Sendable (DownloadProgress) -> Void

  /// The number of the current attempt, from 1. Each failure that is retried begins a new one.
  public var attempt: Int
  /// The bytes of the body so far, after content decoding, including bytes kept from earlier attempts.
  public var received: Int
  /// The length of the whole body in bytes; nil if the server does not declare it.
  public var total: Int?

  /// Creates progress from its parts, for tests of code that shows it.
  public init(attempt: Int, received: Int, total: Int? = nil) {
    self.attempt = attempt
    self.received = received
    self.total = total
  }

  /// The fraction received, 0...1; nil if the total is unknown.
  public var fraction: Double? {
    total.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
  }
}

extension DownloadProgress {
  /// Returns true if this is later than `other`, which may come from another thread.
  func isLater(than other: DownloadProgress?) -> Bool {
    guard let other else { return true }
    return (attempt, received) > (other.attempt, other.received)
  }

  /// Returns the final progress of a download; nil if it has no body.
  static func complete(_ result: Result<Download, FetchFailure>) -> DownloadProgress? {
    guard case .success(let download) = result, download.response.status.kind == .successful else { return nil }
    let count = download.length
    guard count > 0 || download.response.status == .ok else { return nil }
    return DownloadProgress(attempt: download.attempts, received: count, total: count)
  }
}

extension Optional where Wrapped == AsyncStream<DownloadProgress>.Continuation {
  /// A closure that adds progress to the stream; nil if there is no stream.
  package var handler: DownloadProgress.Handler? {
    guard let stream = self else { return nil }
    return { progress in stream.yield(progress) }
  }
}

/// Decides when the progress of a download is reported. A plain value.
struct ProgressThrottle {
  private let interval: Duration
  private var current: DownloadProgress?
  private var isWatched = false
  private var lastReport: Duration?

  /// - Parameter interval: The shortest time between two reports.
  init(interval: Duration) { self.interval = interval }

  /// Reports progress from now on. Returns the progress so far.
  mutating func watch() -> DownloadProgress? {
    isWatched = true
    return current
  }

  /// Records progress, unless it is behind earlier progress. Returns true if it is to be reported. The clock is read
  /// only if someone watches.
  mutating func record(_ progress: DownloadProgress, now: () -> Duration) -> Bool {
    guard progress.isLater(than: current) else { return false }
    current = progress
    guard isWatched else { return false }
    let now = now()
    if let lastReport, now - lastReport < interval { return false }
    lastReport = now
    return true
  }
}
