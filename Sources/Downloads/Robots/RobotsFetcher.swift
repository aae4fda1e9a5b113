internal import HTTPTypes
internal import Synchronization

/// Fetches each robots.txt with the downloader whose requests it concerns, so that its requests are paced and limited
/// like all others of that host.
final class RobotsFetcher: Sendable {
  /// Weak, because the context owns the fetcher.
  fileprivate struct Owner {
    weak var context: DownloadContext?
  }

  private let owner = Mutex(Owner())

  /// Sets the context. Until then, every fetch ends as canceled.
  func connect(to context: DownloadContext) { owner.withLock { $0.context = context } }

  /// Downloads `source` as `userAgent`, from an IP address that the policy allows. `completion` is called exactly once,
  /// on any thread.
  func fetch(
    _ source: SourceURL, userAgent: String?, addresses: AddressPolicy,
    _ completion: @escaping @Sendable (Result<Download, FetchFailure>) -> Void
  ) {
    guard let context = owner.withLock({ $0.context }) else { return completion(.failure(.cancelled)) }
    var request = DownloadRequest(source: source, priority: .high)
    request.isRobotsFile = true
    request.responses = .image
    request.addresses = addresses
    request.headerFields[.userAgent] = userAgent
    context.join(request, RobotsSubscriber(completion), demand: Demand(priority: .high))
  }
}

/// The gate as the subscriber of one download.
private final class RobotsSubscriber: DownloadSubscriber {
  private let completion: @Sendable (Result<Download, FetchFailure>) -> Void

  init(_ completion: @escaping @Sendable (Result<Download, FetchFailure>) -> Void) { self.completion = completion }

  var wantsProgress: Bool { false }
  func progressed(_ progress: DownloadProgress) {}
  func ended(_ result: Result<Download, FetchFailure>) { completion(result) }
}
