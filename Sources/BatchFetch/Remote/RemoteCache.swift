internal import Dispatch
public import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

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
  /// The maximum time of the name lookup and, separately, of connecting to the server. Default 100 ms.
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

/// Decides which sources all users of a remote cache may see, and which mean the same on all machines. A plain value.
///
/// Other rules follow from the header fields of the response; see `CachePolicy.isShareable`.
struct RemoteSharing: Sendable {
  /// True if sources of private networks are shared. See ``RemoteCache/allowsPrivateSources``.
  let allowsPrivateSources: Bool

  /// Returns true if a source with this URL may be shared, as far as the URL shows.
  func allows(_ source: SourceURL) -> Bool {
    source.scheme.isWeb && source.credentials == nil && (allowsPrivateSources || !source.isPrivate)
  }

  /// Returns true if a response to a request for `source` may be shared.
  ///
  /// A redirect must not lead to a URL with another query: it may have a signature that is meant for one user, and only
  /// the server knows which parameters are secret.
  func allows(_ head: TransferHead, from source: SourceURL) -> Bool {
    guard allowsPrivateSources || !head.isPrivate else { return false }
    return head.redirects.allSatisfy { redirect in
      guard let location = RedirectChain.location(in: redirect.response),
        let base = try? SourceURL(redirect.url), let target = try? SourceURL(location, relativeTo: base)
      else { return false }
      return allows(target) && (target.query == nil || target.query == source.query)
    }
  }

  /// Returns true if a source that redirects to this URL may be in the remote cache.
  func allows(finalURL: String?) -> Bool {
    guard let finalURL else { return true }
    return (try? SourceURL(finalURL)).map { allows($0) } ?? false
  }
}

extension SourceURL {
  /// True if the URL shows that the host is in a private network: its IP address is not on the public Internet, or its
  /// name has no dot or a suffix that each network defines for itself (RFC 6761, RFC 6762, RFC 8375, and `internal`,
  /// which ICANN has reserved).
  var isPrivate: Bool {
    if isLoopbackName { return true }
    if let address = IPAddress(hostName) { return !address.isPublic }
    return !hostName.contains(".") || Self.privateSuffixes.contains { hostName.hasSuffix($0) }
  }

  private static let privateSuffixes = [".local", ".internal", ".home.arpa"]

  /// The query without its question mark; nil if there is none.
  fileprivate var query: Substring? {
    description.firstIndex(of: "?").map { description[description.index(after: $0)...] }
  }
}

// MARK: Check

extension RemoteCache {
  /// The URL of the server, without credentials.
  public var url: String { location.prefix }

  /// Requests an object that does not exist. Returns the reason why lookups would fail, as a sentence, or nil if they
  /// would not. Blocks until the server has responded, at most for ``connectTimeout`` and ``readTimeout``.
  public func check() -> String? { check(over: CurlTransport(connections)) }

  func check(over transport: any Transport) -> String? {
    let client = RemoteClient(self, transport: transport, now: ContinuousClock().stopwatch())
    let waiting = WaitingCheck()
    _ = client.get(Self.missingName, maxBytes: TransferLimits.maxUnwantedBytes, .high) { _ in
      Bool?.none
    } completion: {
      waiting.end($0)
    }
    return waiting.flaw()
  }

  /// The name of a source with a key that no URL has.
  private static let missingName = "s/" + String(repeating: "0", count: 32)
}

/// A request whose result a thread waits for.
private final class WaitingCheck: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let result = Mutex(RemoteResult<Bool>.missing)

  func end(_ result: RemoteResult<Bool>) {
    self.result.withLock { $0 = result }
    done.signal()
  }

  /// Waits for the result. Returns nil if the server is fine.
  func flaw() -> String? {
    done.wait()
    return switch result.withLock({ $0 }) {
    case .missing: nil
    case .failed(.timeout(let text)), .failed(.error(let text)): text
    case .found, .failed(.unusable): "The server has an object that was never written."
    case .failed(.skipped), .failed(.cancelled): "The request was not sent."
    }
  }
}

/// Counts of what a pipeline has done with its remote cache. The unit is one image.
public struct RemoteCacheCounters: Hashable, Sendable {
  /// Lookups that found the image with all its thumbnails, fresh or stale.
  public var hits = 0
  /// Lookups that did not find the image, or lacked a thumbnail.
  public var misses = 0
  /// Lookups that failed because the server did not respond in time.
  public var timeouts = 0
  /// Lookups that failed for another reason, such as a status of 500.
  public var errors = 0
  /// Lookups that met an object that failed a check: damaged, signed with another key, or that of another image.
  public var rejected = 0
  /// Images that were not looked up because earlier requests had failed.
  public var skipped = 0
  /// Images that were uploaded.
  public var stored = 0
  /// Images whose upload failed.
  public var failed = 0
  /// Images that were not uploaded, because too many waited, earlier requests had failed, or the time was over.
  public var dropped = 0

  /// Creates counters that are all zero.
  public init() {}
}
