package import Foundation
internal import HTTPTypes

extension FetchFailure {
  /// Creates the failure of a download whose response has a status that is no success, with the start of its body.
  package init(statusOf download: Download, now: Date) {
    let status = download.response.status
    let reason = status.reasonPhrase.isEmpty ? "" : " (\(status.reasonPhrase))"
    self.init(
      .http(status.code), "The server responded with status \(status.code)\(reason).", attempts: download.attempts)
    head = download.head
    body = download.body
    retryAt = RetryAfter.duration(in: download.response, now: now).map { now + $0 / .seconds(1) }
  }
}
