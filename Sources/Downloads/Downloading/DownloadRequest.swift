public import Foundation
public import HTTPTypes

/// A request for the bytes of one source.
///
/// ```swift
/// var request = DownloadRequest(source: try SourceURL("https://images.example/a.jpg"))
/// request.headerFields[.referer] = "https://images.example/"
/// request.priority = .high
/// ```
public struct DownloadRequest: Sendable {
  /// Inspects the body received so far, and throws to give up the download. Called until it returns true,
  /// whenever the body has grown by a quarter. It runs on the one thread of the transport, which serves all other
  /// downloads, so it must be fast and never block.
  public typealias Inspection = @Sendable (_ bytes: [UInt8]) throws(FetchFailure) -> Bool

  /// The source of the bytes.
  public var source: SourceURL
  /// Additional header fields, conditions such as `If-None-Match` included. Default: none. A field about the length of
  /// the message or its connection (`Content-Length`, `Transfer-Encoding`, `Connection` and the like) fails the request
  /// with `bad_row`.
  public var headerFields: HTTPFields
  /// The media types that the caller wants, for the `Accept` field (RFC 9110, section 12.5.1). An `Accept` field in
  /// ``headerFields`` replaces it. Unless the download is into a file, so does one of the host or the configuration.
  /// Default: any.
  public var accept = "*/*"
  /// The priority. Default ``Priority/normal``.
  public var priority: Priority
  /// The inspection of the first bytes, which avoids the download of a useless body. Default: none. If several callers
  /// share a download, the inspection of the first one is used.
  public var inspection: Inspection?
  /// The milestones to wait for before the download begins. Until then it occupies no place in a queue. Default: none.
  public var after: [Milestone] = []

  /// The responses that are a success, and the bytes that are kept of others. Callers with different rules never share
  /// a download. Default: a status of 200 to 299, or 304 for a request with conditions; any other one fails with its
  /// code. A download into a file needs a 200, and only ``ResponseRules/maxErrorBytes`` counts.
  public var responses = ResponseRules()

  /// The deadlines and limits of one attempt, except the rule for IP addresses: other limits must not lift it by
  /// chance. Default nil: those of the downloader, without a limit of length and total time for a download into a file.
  public var limits: TransferLimits?
  /// The rule for IP addresses. Default nil: that of the downloader.
  public var addresses: AddressPolicy?
  /// The permission to read a local file. Default nil: that of the downloader.
  public var files: FileAccess?
  /// The policy for retries. Default nil: that of the downloader.
  public var retry: RetryPolicy?
  /// Changes the request before each of its attempts. Default nil: none.
  public var modifier: RequestModifier?
  /// The maximum time of the whole download for this caller, from the call on, dependencies and queues included. After
  /// it, the download fails with `timeout_total`; for other callers it goes on. If the request is made only after the
  /// dependencies have ended, its time begins then. From zero to 20 days; a value outside is clamped. Default nil:
  /// none.
  public var timeout: Duration?

  /// The purpose of a request to a bucket. Default ``BucketAction/read``.
  package var action = BucketAction.read
  /// Identifies the inspection: callers with different ones never share a download. Default nil: the first one counts.
  package var inspectionID: Int?
  /// The file for the body; nil to keep it in memory.
  var part: PartFile?
  /// The target of a redirect that need not be requested, because the caller has a fresh copy; nil for none. The
  /// response is then a 304 (Not Modified) with ``TransferHead/isTargetReused``.
  package var freshTarget: String?
  /// True for the request of a robots.txt, which needs no permission.
  var isRobotsFile = false

  /// Creates a request for the bytes at `source`.
  public init(
    source: SourceURL, headerFields: HTTPFields = [:], priority: Priority = .normal,
    inspection: Inspection? = nil
  ) {
    self.source = source
    self.headerFields = headerFields
    self.priority = priority
    self.inspection = inspection
  }

  /// The identity of a download. Header fields are part of it: a server may send different bytes for different fields.
  /// So is whatever else changes the outcome.
  package struct Key: Hashable, Sendable {
    let source: SourceURL
    let action: BucketAction
    let headerFields: HTTPFields
    let accept: String
    let freshTarget: String?
    let isRobotsFile: Bool
    let responses: ResponseRules
    let limits: TransferLimits?
    let addresses: AddressPolicy?
    let retry: RetryPolicy?
    let modifier: RequestModifier?
    let inspectionID: Int?
    let file: FileTarget?

    /// Hashes the source only, which nearly always differs: hashing fields costs more than comparing them.
    package func hash(into hasher: inout Hasher) { hasher.combine(source) }
  }

  var key: Key {
    Key(
      source: source, action: action, headerFields: headerFields, accept: accept, freshTarget: freshTarget,
      isRobotsFile: isRobotsFile, responses: responses, limits: limits, addresses: addresses, retry: retry,
      modifier: modifier,
      inspectionID: inspectionID, file: part?.target)
  }

  /// True if an interrupted download may request the rest. False if the caller has its own range or conditions, which
  /// would conflict with those that request the rest.
  var isResumable: Bool { Self.conditions.allSatisfy { headerFields[$0] == nil } }

  private static let conditions: [HTTPField.Name] = [
    .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
  ]
}

// MARK: URL

extension DownloadRequest {
  /// Creates a request for the bytes at `url`, which may contain spaces and non-ASCII letters.
  ///
  /// - Throws: `bad_url` if `url` is not an absolute URL, `blocked_scheme` for schemes other than http, https and file.
  public init(
    url: String, headerFields: HTTPFields = [:], priority: Priority = .normal, inspection: Inspection? = nil
  ) throws(FetchFailure) {
    self.init(
      source: try SourceURL(url), headerFields: headerFields, priority: priority, inspection: inspection)
  }

  /// Creates a request for the bytes at `url`.
  ///
  /// - Throws: `bad_url` if `url` is relative or has no host, `blocked_scheme` for schemes other than http, https and
  ///   file.
  public init(
    url: URL, headerFields: HTTPFields = [:], priority: Priority = .normal, inspection: Inspection? = nil
  ) throws(FetchFailure) {
    self.init(
      source: try SourceURL(url), headerFields: headerFields, priority: priority, inspection: inspection)
  }
}

/// The urgency of a request compared with others that wait.
///
/// It orders everything that a request waits for: lookups in the disk cache, room in memory, downloads and decodes.
/// Among requests of equal priority, the one that has waited longest comes first. If several callers share the work,
/// the highest priority counts. A request that waits for the end of another one passes its priority to it. A change
/// takes effect at once, wherever the request waits.
public enum Priority: Int, Comparable, CaseIterable, Sendable {
  /// For work such as prefetching, which starts when nothing more urgent waits.
  case low
  /// The default.
  case normal
  /// For images that are missing on screen, which start before everything else.
  case high

  /// Returns true if `a` is less urgent than `b`.
  public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

extension Priority {
  /// One value for each priority, at the index of its raw value.
  @usableFromInline typealias Table<Value> = InlineArray<3, Value>
}
