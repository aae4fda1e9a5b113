internal import Foundation
internal import HTTPTypes

/// What the downloads of one downloader share.
final class DownloadEnvironment: Sendable {
  let transport: any Transport
  /// As wide as there may be transfers at once.
  let transfers: OperationQueue
  let hosts: HostQueues
  let retry: RetryPolicy
  let files: FileAccess
  let progressInterval: Duration
  /// The wall clock.
  let now: @Sendable () -> Date
  /// The injected clock, since the downloader was made.
  let elapsed: @Sendable () -> Duration
  /// Where operations start and transfers end, one after the other. Nothing there blocks: one thread that is awake does
  /// it for all, and wakes no other.
  private let scheduling = DispatchQueue(label: "thumbs.scheduling", target: .global())
  private let fileTransport = FileTransport()
  private let limits: TransferLimits
  private let headerFields: HTTPFields
  private let clock: any Clock<Duration>

  init(_ configuration: Downloader.Configuration, transport: any Transport) {
    self.transport = transport
    transfers = OperationQueue()
    transfers.name = "thumbs.transfers"
    transfers.maxConcurrentOperationCount = configuration.concurrency.clamped(to: Downloader.Configuration.counts)
    transfers.underlyingQueue = scheduling
    elapsed = configuration.clock.stopwatch()
    hosts = HostQueues(
      limit: configuration.perHost.clamped(to: Downloader.Configuration.counts), retry: configuration.retry,
      clock: configuration.clock, now: elapsed,
      scheduling: scheduling)
    retry = configuration.retry
    files = configuration.files
    progressInterval = configuration.progressInterval
    now = configuration.now
    limits = configuration.limits.inRange
    headerFields = configuration.headerFields
    clock = configuration.clock
  }

  /// Gets ready for an attempt at `request`. `completion` is called exactly once, from any thread.
  func prepare(for request: DownloadRequest, _ completion: @escaping @Sendable (FetchFailure?) -> Void) {
    guard request.source.scheme != .file else { return completion(nil) }
    transport.prepare(for: request.source, limits: limits, completion: completion)
  }

  /// One attempt at `request`, from the bytes that are there already.
  func transfer(
    _ request: DownloadRequest, continuing partial: PartialDownload?,
    progress: @escaping TransferOperation.Progress, ending: @escaping TransferOperation.Ending
  ) -> TransferOperation {
    var fields = headerFields
    let own = [request.headerFields, partial?.requestFields ?? [:]].joined()
    for field in own { fields[field.name] = nil }
    for field in own { fields.append(field) }
    return TransferOperation(
      TransferRequest(source: request.source, headerFields: fields, limits: limits), continuing: partial,
      over: request.source.scheme == .file ? fileTransport : transport,
      inspection: request.inspection, scheduling: scheduling, now: now, progress: progress, ending: ending)
  }

  /// A random number in 0..<1.
  func jitter() -> Double { Double.random(in: 0..<1) }

  /// Runs `body` after a pause on the injected clock, unless the task is cancelled.
  func after(_ pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    clock.run(after: pause, body)
  }
}

extension Clock<Duration> {
  /// Tells the time since now.
  func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }

  /// Runs `body` after a pause, unless the task is cancelled.
  func run(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      guard (try? await sleep(for: pause)) != nil else { return }
      body()
    }
  }
}
