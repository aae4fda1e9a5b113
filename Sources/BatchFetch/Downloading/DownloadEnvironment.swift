internal import Foundation
internal import HTTPTypes

/// What the downloads of one downloader share.
final class DownloadEnvironment: Sendable {
  let transport: any Transport
  /// As wide as there may be transfers at once.
  let transfers: OperationQueue
  let hosts: HostQueues
  let retry: RetryPolicy
  let now: @Sendable () -> Date
  private let fileTransport = FileTransport()
  private let limits: TransferLimits
  private let headerFields: HTTPFields
  private let clock: any Clock<Duration>

  init(_ configuration: Downloader.Configuration, transport: any Transport) {
    self.transport = transport
    transfers = OperationQueue()
    transfers.name = "thumbs.transfers"
    transfers.maxConcurrentOperationCount = configuration.concurrency
    hosts = HostQueues(limit: configuration.perHost, cap: configuration.retry.cap, clock: configuration.clock)
    retry = configuration.retry
    now = configuration.now
    limits = configuration.limits
    headerFields = configuration.headerFields
    clock = configuration.clock
  }

  /// One attempt at `request`.
  func transfer(_ request: DownloadRequest, ending: @escaping TransferOperation.Ending) -> TransferOperation {
    var fields = headerFields
    for field in request.headerFields { fields[field.name] = nil }
    for field in request.headerFields { fields.append(field) }
    return TransferOperation(
      TransferRequest(source: request.source, headerFields: fields, limits: limits),
      over: request.source.scheme == .file ? fileTransport : transport,
      inspection: request.inspection, now: now, ending: ending)
  }

  /// A random number in 0..<1.
  func jitter() -> Double { Double.random(in: 0..<1) }

  /// Runs `body` after a pause on the injected clock, unless the task is cancelled.
  func after(_ pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    clock.run(after: pause, body)
  }
}

extension Clock<Duration> {
  /// Runs `body` after a pause, unless the task is cancelled.
  func run(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      guard (try? await sleep(for: pause)) != nil else { return }
      body()
    }
  }
}
