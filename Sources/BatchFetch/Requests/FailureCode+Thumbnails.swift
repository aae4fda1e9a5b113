public import ImageCache

extension FailureCode {
  /// The codes that this module adds to those of requests.
  package static let ofThumbnails: [FailureCode] =
    ImageError.Code.allCases.map { .image($0) } + [.badRow, .rejectedHash, .offlineMiss]

  /// The row of a list is invalid.
  public static let badRow = FailureCode("bad_row", isRetryable: false, contact: .none)

  /// The bytes are among those that the pipeline rejects.
  public static let rejectedHash = FailureCode("rejected_hash", isRetryable: false, isLasting: true, contact: .reached)
  /// The image is not in the cache, and the cache mode is offline.
  public static let offlineMiss = FailureCode("offline_miss", isRetryable: false, contact: .none)

  /// The image cannot be decoded or rendered. A fault of the machine may be gone with the next request, so it does not
  /// last.
  public static func image(_ code: ImageError.Code, origin: ImageError.Origin = .file) -> FailureCode {
    switch code {
    case .truncated: .truncated
    case .outOfMemory: FailureCode(code.rawValue, isRetryable: true, contact: .reached)
    case .badSpec, .notAnImage, .unsupportedFormat, .tooManyPixels, .tooFewPixels, .tooLong, .noPage, .decodeError,
      .decodeLimit, .outputTooLarge:
      FailureCode(
        code.rawValue, isRetryable: false, isLasting: code.isFinal && origin == .file, contact: .reached)
    }
  }

  /// Creates the code of a request or an image from its spelling in a report; nil for any other text.
  public init?(_ description: String) {
    if let code = Self.byName[description] {
      self = code
    } else if description.hasPrefix("http_"), let status = Int(description.dropFirst(5)), (100...999).contains(status) {
      self = .http(status)
    } else {
      return nil
    }
  }

  // Two codes have two causes each: `truncated` (a body, an image) and `bad_row` (a header field, a row).
  private static let byName = Dictionary((ofRequests + ofThumbnails).map { ($0.description, $0) }) { code, _ in code }
}

extension FetchFailure {
  /// The failure of an image that cannot be decoded or rendered.
  init(_ error: ImageError, attempts: Int = 0) {
    self.init(.image(error.code, origin: error.origin), error.message, attempts: attempts)
  }
}
