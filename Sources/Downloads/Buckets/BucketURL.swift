/// The URL of an object in a bucket: `s3://bucket/key` or `gs://bucket/key`.
///
/// As in the tools of the providers, the key is written as it is: a percent sign, `?` and `#` are parts of it.
package struct BucketURL: Hashable, Sendable {
  /// The longest key in bytes, of Amazon S3 and Google Cloud Storage alike.
  private static let longestKey = 1024
  private static let longestBucket = 222

  package let scheme: SourceURL.Scheme
  package let bucket: String
  /// The name of the object; empty for the bucket itself.
  package let key: String

  package init(_ scheme: SourceURL.Scheme, bucket: String, key: String) {
    (self.scheme, self.bucket, self.key) = (scheme, bucket, key)
  }

  /// Reads `text`; nil if its scheme is not that of buckets.
  ///
  /// - Throws: `bad_url` for a bucket or a key that is too long or has characters that requests cannot have.
  package init?(_ text: String) throws(FetchFailure) {
    guard let scheme = Self.scheme(of: text) else { return nil }
    let rest = text.drop { $0 != "/" }.dropFirst(2)
    let bucket = rest.prefix { $0 != "/" }
    self.init(scheme, bucket: String(bucket), key: String(rest.dropFirst(bucket.count + 1)))
    if let flaw { throw FetchFailure(.badURL, "\(flaw): \(text.quotedForMessage)") }
  }

  private static func scheme(of text: String) -> SourceURL.Scheme? {
    // Nearly all URLs begin with another letter.
    guard let first = text.utf8.first, first | 0x20 == UInt8(ascii: "s") || first | 0x20 == UInt8(ascii: "g") else {
      return nil
    }
    let start = text.prefix(5).lowercased()
    return start == "s3://" ? .s3 : start == "gs://" ? .gs : nil
  }

  /// The beginning of a sentence about a URL that cannot be requested; nil if it can.
  private var flaw: String? {
    let isPlain = bucket.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._".utf8.contains($0) }
    guard isPlain, !bucket.isEmpty, bucket.utf8.count <= Self.longestBucket, !bucket.allSatisfy({ $0 == "." }) else {
      return "The name of the bucket is not valid"
    }
    if key.utf8.count > Self.longestKey { return "The key is longer than \(Self.longestKey) bytes" }
    if key.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "The key has a control character" }
    // Clients and proxies remove them.
    let segments = key.split(separator: "/", omittingEmptySubsequences: false)
    return segments.contains { $0 == "." || $0 == ".." } ? "The key has a segment of nothing but dots" : nil
  }

  /// The path of the object on a server that has all buckets, encoded as signatures demand it.
  var path: String { "/\(bucket)/\(key.percentEncodedPath)" }

  /// Returns `text` as the value of a parameter in a query, encoded as signatures demand it.
  package static func parameter(_ text: String) -> String { text.percentEncodedPath.replacing("/", with: "%2F") }
}

extension BucketURL: CustomStringConvertible {
  /// The URL as it is written.
  package var description: String { "\(scheme.rawValue)://\(bucket)/\(key)" }
}

/// The purpose of a request to a bucket.
package enum BucketAction: Hashable, Sendable {
  /// Reads the object.
  case read
  /// Stores an object with these bytes.
  case write([UInt8])
  /// Lists objects of the bucket. The text is the query of the request, with its parameters encoded and in the order of
  /// their names.
  case list(query: String)
}
