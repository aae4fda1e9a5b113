internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// What the end of a download means for those who wait.
enum Settlement {
  /// There are bytes to render.
  case render(Download)
  /// The server confirmed the entry.
  case confirmed(CachedPicture, Download)
  /// The server could not be asked, and the entry may stand in.
  case stale(CachedPicture)
  /// The answer is about something that is not here: ask without conditions.
  case askAgain
  /// There is nothing to serve.
  case fail(FetchFailure)

  /// - Parameter picture: what the request asked to confirm, complete for everyone who waited then.
  init(_ result: Result<Download, FetchFailure>, confirming picture: CachedPicture?, now: Date) {
    switch result {
    case .success(let download) where download.response.status == .ok:
      self = .render(download)
    case .success(let download) where download.response.status == .notModified:
      // Unasked for, a 304 would be answered by a 304 again.
      if let picture {
        self = Self.confirms(download, picture.source) ? .confirmed(picture, download) : .askAgain
      } else {
        self = .fail(Self.failure(of: download))
      }
    case .success(let download):
      self = Self.standIn(for: Self.failure(of: download), picture, now: now)
    case .failure(let failure):
      self = Self.standIn(for: failure, picture, now: now)
    }
  }

  /// Whether a 304 is about what is stored. Validators are those of one address (RFC 9110, section 8.8): where a redirect
  /// leads elsewhere by now, a file there may just be older, or have the same tag.
  private static func confirms(_ download: Download, _ source: StoredSource) -> Bool {
    source.policy.isConfirmed(by: download.response) && download.finalURL == source.finalURL
  }

  /// `stale-if-error`, RFC 5861, section 4.
  private static func standIn(for failure: FetchFailure, _ picture: CachedPicture?, now: Date) -> Settlement {
    let isTrouble = failure.code.isRetryable || failure.code == .dnsNotFound
    guard isTrouble, let picture, picture.source.policy.mayServeStaleOnError(at: now) else { return .fail(failure) }
    return .stale(picture)
  }

  private static func failure(of download: Download) -> FetchFailure {
    let status = download.response.status
    let reason = status.reasonPhrase.isEmpty ? "" : " (\(status.reasonPhrase))"
    var failure = FetchFailure(
      .http(status.code), "The server answered \(status.code)\(reason).", attempts: download.attempts)
    failure.head = download.head
    return failure
  }
}
