internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// Decides how callers are served, given the outcome of a download.
enum ResponseDecision {
  /// Render the body.
  case render(Download)
  /// Serve the cached image: the server has confirmed it.
  case confirmed(CachedImage, Download)
  /// Serve the cached image: its URL redirects to the same target as before, which is still fresh.
  case reused(CachedImage, Download)
  /// Serve the cached image although it is stale: the request failed, and the entry may be used on errors.
  case stale(CachedImage)
  /// Request the source without conditions: the server has confirmed something other than the cached image.
  case requestAgain
  /// Fail.
  case fail(FetchFailure)

  /// - Parameter image: The cached image that the request offered for confirmation, with all sizes that were wanted
  ///   then.
  init(_ result: Result<Download, FetchFailure>, confirming image: CachedImage?, now: Date) {
    switch result {
    case .success(let download) where download.response.status == .ok:
      self = .render(download)
    case .success(let download) where download.response.status == .notModified:
      // A request without conditions that got a 304 would get another one if it were repeated.
      if let image, download.isTargetReused {
        self = .reused(image, download)
      } else if let image {
        self = Self.confirms(download, image.source) ? .confirmed(image, download) : .requestAgain
      } else {
        self = .fail(FetchFailure(statusOf: download, now: now))
      }
    case .success(let download):
      self = Self.standIn(for: FetchFailure(statusOf: download, now: now), image, now: now)
    case .failure(let failure):
      self = Self.standIn(for: failure, image, now: now)
    }
  }

  /// Returns true if a 304 response confirms the stored source. Validators belong to one URL (RFC 9110, section 8.8):
  /// if a redirect leads elsewhere now, the file there may just be older, or have the same tag by chance.
  private static func confirms(_ download: Download, _ source: StoredSource) -> Bool {
    source.policy.isConfirmed(by: download.response) && download.finalURL == source.finalURL
  }

  /// Applies `stale-if-error` (RFC 5861, section 4).
  private static func standIn(for failure: FetchFailure, _ image: CachedImage?, now: Date) -> ResponseDecision {
    let isUnreachable = failure.code.isRetryable || failure.code == .dnsNotFound
    guard isUnreachable, let image, image.source.policy.mayServeStaleOnError(at: now) else { return .fail(failure) }
    return .stale(image)
  }
}
