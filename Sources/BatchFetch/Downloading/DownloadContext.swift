internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// Everything that the jobs of one downloader share: the table of downloads and callers, the queues, the transport.
final class DownloadContext: Sendable {
  typealias Table = InFlight<DownloadRequest.Key, DownloadJob, any DownloadSubscriber>

  struct State {
    var jobs = Table()
    var observers = ObserverList()
  }

  let state = Mutex(State())
  /// Entered for each caller until its completion has returned.
  let group = DispatchGroup()
  /// Runs the completions, never on the transport's thread and never inside a call to `cancel`.
  let callbacks = DispatchQueue(label: "thumbs.downloads", attributes: .concurrent)
  /// Its width is the maximum number of simultaneous transfers.
  let transfers = OperationQueue()
  let hosts: HostQueues
  let retry: RetryPolicy
  let files: FileAccess
  let limits: TransferLimits
  let progressInterval: Duration
  /// The wall clock.
  let now: @Sendable () -> Date
  /// The time on the injected clock since the downloader was made.
  let elapsed: @Sendable () -> Duration
  /// Starts operations and ends transfers, one at a time. Nothing on it blocks, so that one thread does all of it
  /// without waking another.
  let scheduling = DispatchQueue(label: "thumbs.scheduling", target: .global())
  private let transport: any Transport
  private let fileTransport = FileTransport()
  private let headerFields: HTTPFields
  private let clock: any Clock<Duration>

  init(_ configuration: Downloader.Configuration, transport: any Transport) {
    self.transport = transport
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
    limits = configuration.limits.inRange
    progressInterval = configuration.progressInterval
    now = configuration.now
    headerFields = configuration.headerFields
    clock = configuration.clock
  }

  /// Prepares an attempt at `request`. `completion` is called exactly once, from any thread.
  func prepare(for request: DownloadRequest, _ completion: @escaping @Sendable (FetchFailure?) -> Void) {
    guard request.source.scheme != .file else { return completion(nil) }
    transport.prepare(for: request.source, limits: limits, completion: completion)
  }

  /// Starts one transfer for `request`, which continues `partial` if it is not nil.
  func transfer(
    _ request: DownloadRequest, continuing partial: PartialDownload?, to receiver: any TransferReceiver
  ) -> WorkHandle {
    var fields = headerFields
    let own = [request.headerFields, partial?.requestFields ?? [:]].joined()
    for field in own { fields[field.name] = nil }
    for field in own { fields.append(field) }
    let transport: any Transport = request.source.scheme == .file ? fileTransport : transport
    let transfer = transport.start(
      TransferRequest(source: request.source, headerFields: fields, limits: limits), receiver: receiver)
    return WorkHandle(cancel: { transfer.cancel() })
  }

  /// A random number in 0..<1.
  func jitter() -> Double { Double.random(in: 0..<1) }

  /// Runs `body` after a pause on the injected clock, unless the task is canceled.
  func after(_ pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    clock.run(after: pause, body)
  }
}

extension Clock<Duration> {
  /// Returns a closure that returns the time since now.
  func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }

  /// Runs `body` after a pause, unless the task is canceled.
  func run(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      guard (try? await sleep(for: pause)) != nil else { return }
      body()
    }
  }
}
