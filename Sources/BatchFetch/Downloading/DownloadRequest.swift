public import HTTPTypes

/// The bytes that somebody wants.
public struct DownloadRequest: Sendable {
  /// Looks at the body while it comes in, from its first byte on; throws to give it up. Called until it says true.
  public typealias Inspection = @Sendable (_ bytes: [UInt8]) throws(FetchFailure) -> Bool

  /// Where the bytes are.
  public var source: SourceURL
  /// Additional header fields: the caller's own, and conditions such as `If-None-Match`. A request with a field about
  /// the message's length or its connection (`Content-Length`, `Transfer-Encoding`, `Connection` and their like) fails
  /// with `bad_row`.
  public var headerFields: HTTPFields
  /// How urgent it is. Default normal.
  public var priority: ThumbnailRequest.Priority
  /// Judges the body by its first bytes, so that a hopeless one is not paid for. Default: nothing is judged.
  /// Where several callers share a download, that of the first one counts.
  public var inspection: Inspection?

  /// A request for the bytes at `source`.
  public init(
    source: SourceURL, headerFields: HTTPFields = [:], priority: ThumbnailRequest.Priority = .normal,
    inspection: Inspection? = nil
  ) {
    self.source = source
    self.headerFields = headerFields
    self.priority = priority
    self.inspection = inspection
  }

  /// What makes two requests the same download. Fields count: other fields may bring other bytes.
  struct Key: Hashable, Sendable {
    let source: SourceURL
    let headerFields: HTTPFields

    /// By the address, which nearly always tells two requests apart: hashing fields costs more than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(source) }
  }

  var key: Key { Key(source: source, headerFields: headerFields) }

  /// Whether an interrupted download may ask for the rest: not where the caller has conditions of its own, or asks for
  /// a range itself. They would contradict those by which the rest is asked for.
  var isResumable: Bool { Self.conditions.allSatisfy { headerFields[$0] == nil } }

  private static let conditions: [HTTPField.Name] = [
    .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
  ]
}
