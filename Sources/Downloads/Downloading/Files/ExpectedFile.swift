/// The content that a caller expects of a file. A download of other bytes fails with `hash_mismatch`.
public struct ExpectedFile: Hashable, Sendable {
  /// The SHA-256 digest. Default nil: any.
  public var digest: BodyDigest?
  /// The length in bytes. Default nil: any.
  public var length: Int?

  /// Creates an expectation. By default, every file meets it.
  public init(digest: BodyDigest? = nil, length: Int? = nil) {
    self.digest = digest
    self.length = length
  }

  /// Throws `hash_mismatch` if a file with this content is not the expected one.
  func check(_ digest: BodyDigest, length: Int) throws(FetchFailure) {
    if let expected = self.length, expected != length {
      throw FetchFailure(.hashMismatch, "The file has \(length) bytes, but \(expected) are expected.")
    }
    guard let expected = self.digest, expected != digest else { return }
    throw FetchFailure(hash: digest, expected: expected, httpStatus: nil, attempts: 0)
  }
}
