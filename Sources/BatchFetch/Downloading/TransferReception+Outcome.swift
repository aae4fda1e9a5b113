internal import Foundation
internal import HTTPTypes

extension TransferReception.Outcome {
  /// The status that the server gave; nil where no whole answer came.
  var status: HTTPResponse.Status? {
    guard case .ended(.success(let answer), _) = self else { return nil }
    return answer.head.response.status
  }

  /// How long the server asks to be left alone; nil where it does not.
  func retryAfter(now: Date) -> Duration? {
    guard case .ended(.success(let answer), _) = self, answer.head.response.status.isRefusal,
      let value = answer.head.response.headerFields[.retryAfter]
    else { return nil }
    return RetryAfter.duration(of: value, now: now)
  }

  /// What the outcome means for the download, which keeps nothing where `isKept` is false.
  func ending(isKept: Bool) -> DownloadState.Ending {
    guard case .ended(let result, let kept) = self else { return .rangeRefused }
    let code: FailureCode
    switch result {
    case .failure(let failure): code = failure.code
    case .success(let answer):
      let status = answer.head.response.status
      guard status.kind == .serverError || status.kind == .clientError else { return .good }
      code = .http(status.code)
    }
    return .failed(code, kept: isKept ? kept : nil)
  }
}

extension HTTPResponse.Status {
  /// Whether the server wants fewer requests: Too Many Requests (RFC 6585, 4), Service Unavailable (RFC 9110, 15.6.4).
  var isRefusal: Bool { code == 429 || code == 503 }
}
