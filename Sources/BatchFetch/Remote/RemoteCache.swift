public import Foundation
internal import ImageCache

/// A cache on a server that several machines share, behind the memory and the disk of each.
///
/// An image that is missing or stale on disk is looked up on the server before it is requested from its host, and what
/// was fetched is uploaded in the background. Nothing that the server does changes a result: whatever is wrong with it,
/// the image is requested from its host.
///
/// ```swift
/// func sharedPipeline(password: String) throws -> ThumbnailPipeline {
///   var configuration = ThumbnailPipeline.Configuration()
///   configuration.remoteCache = try RemoteCache("http://thumbs:\(password)@cache.internal/thumbs")
///   configuration.remoteCache?.access = .readOnly
///   return ThumbnailPipeline(configuration)
/// }
/// ```
///
/// All users of the server see what is on it, so it is a shared cache as in RFC 9111. Responses that are `private` or
/// `no-store` are not uploaded, nor are those of local files and of requests with credentials, cookies, other header
/// fields that may be secret, unverified certificates or other certificate authorities than those of the system. The
/// same applies to sources of private networks, and to redirects to a URL with another query, which may be a secret.
public struct RemoteCache: Sendable {
  /// The permission to change the cache.
  public enum Access: Hashable, Sendable {
    /// Reads, and uploads what was fetched.
    case readWrite
    /// Only reads.
    case readOnly
  }

  /// A key that the machines share. It signs each object with an HMAC-SHA256, so that objects of writers without the
  /// key are not used.
  public struct Secret: Sendable {
    /// The minimum length in bytes.
    public static let minLength = 16
    let bytes: [UInt8]

    /// Creates a key; nil if it is shorter than ``minLength``.
    public init?(_ bytes: [UInt8]) {
      guard bytes.count >= Self.minLength else { return nil }
      self.bytes = bytes
    }
  }

  /// The permission to change the cache. Default ``Access/readWrite``.
  public var access = Access.readWrite
  /// The key of the objects' signatures. Default nil: objects have a checksum, which proves nothing about the writer.
  public var secret: Secret?
  /// True to share sources of private networks as well: those whose URL has an IP address that is not on the public
  /// Internet, such as 127.0.0.1 or 10.0.0.1, or a name such as `localhost`, `intranet` or `files.internal`, and those
  /// whose host has an IP address of this kind. All machines must then be in the same network, because a URL must mean
  /// the same for each. They use other objects than machines without this setting. Has no effect together with
  /// ``AddressPolicy/publicOnly``. Default false.
  public var allowsPrivateSources = false
  /// The maximum time to look up the name of the server, and again to connect. Default 100 ms.
  public var connectTimeout = Duration.milliseconds(100)
  /// The maximum time to read one object. A lookup reads two or more, one after the other. When lookups have cost more
  /// time than this, the server is skipped for a while. Default 1 s.
  public var readTimeout = Duration.seconds(1)
  /// The maximum time to write one object. Default 10 s.
  public var writeTimeout = Duration.seconds(10)
  /// The maximum number of bytes of thumbnails that wait to be uploaded; what exceeds it is dropped. A value below 0
  /// counts as 0. Default 16 MiB.
  public var maxPendingBytes = 16 << 20
  /// The settings of the connections to the server, which share nothing with those to the hosts of images. A `.netrc`
  /// file among them may have the credentials of the server. Default: no file.
  public var connections = CurlTransport.Configuration()

  let location: RemoteLocation

  /// Creates the settings of the cache at `url`.
  ///
  /// - Parameters:
  ///   - url: `http://host/path` or `https://host/path` for a server with `GET` and `PUT`, perhaps with user and
  ///     password, or `s3://bucket/prefix?endpoint=https://host&region=name` for S3. Without `endpoint` or `region`,
  ///     `AWS_ENDPOINT_URL` and `AWS_REGION` count, or else Amazon's server and `us-east-1`.
  ///   - environment: The environment variables with the key for S3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
  ///     perhaps `AWS_SESSION_TOKEN`. Default: those of the process.
  /// - Throws: `bad_url` if `url` has none of these forms, or if the variables are missing.
  public init(
    _ url: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(FetchFailure) {
    location = try RemoteLocation(url, environment: environment)
  }

  /// The limits of reading one object of at most `maxBytes`.
  func readLimits(maxBytes: Int) -> TransferLimits { limits(readTimeout, maxBytes: maxBytes) }

  /// The limits of writing one object, whose response is ignored.
  var writeLimits: TransferLimits { limits(writeTimeout, maxBytes: TransferLimits.maxUnwantedBytes) }

  private func limits(_ timeout: Duration, maxBytes: Int) -> TransferLimits {
    var limits = TransferLimits()
    limits.connect = connectTimeout
    (limits.firstByte, limits.total) = (timeout, timeout)
    limits.maxBytes = maxBytes
    return limits
  }
}
