public import Foundation

/// A file that a download has written.
public struct DownloadedFile: Hashable, Sendable {
  /// The file.
  public let url: URL
  /// The length in bytes.
  public let length: Int
  /// The SHA-256 digest, computed from what is on disk.
  public let digest: BodyDigest
  /// The bytes that an earlier process, or an earlier download to the same file, had received.
  public let resumed: Int

  /// Creates the description of a file, for tests of code that shows it.
  public init(url: URL, length: Int, digest: BodyDigest, resumed: Int = 0) {
    self.url = url
    self.length = length
    self.digest = digest
    self.resumed = resumed
  }
}
