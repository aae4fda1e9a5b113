public import HTTPTypes

/// Settings that a host, or a group of hosts, has instead of the downloader's own. Whatever is nil or empty applies
/// unchanged.
public struct HostRule: Hashable, Sendable {
  /// The maximum rate of requests to each host. Default nil: ``Downloader/Configuration/rate``.
  public var rate: RequestRate?
  /// The maximum number of simultaneous downloads per host: 1...65,536; a value outside is clamped. Default nil:
  /// ``Downloader/Configuration/perHost``.
  public var perHost: Int?
  /// Header fields for requests to the host. Each replaces those of the same name in
  /// ``Downloader/Configuration/headerFields`` and ``DownloadRequest/accept``, and an empty value removes them; without
  /// `Accept`, libcurl accepts any media type. Default: none. The header fields of a request replace these.
  public var headerFields: HTTPFields

  /// Creates a rule. Without arguments, it changes nothing.
  public init(rate: RequestRate? = nil, perHost: Int? = nil, headerFields: HTTPFields = [:]) {
    self.rate = rate
    self.perHost = perHost
    self.headerFields = headerFields
  }

  /// Replaces the members that `other`, which is more specific, has. Header fields are replaced by name.
  mutating func merge(_ other: HostRule) {
    rate = other.rate ?? rate
    perHost = other.perHost ?? perHost
    headerFields.replace(with: other.headerFields)
  }

  /// Returns `defaults`, the header fields of every request, with those of this rule.
  package func headerFields(over defaults: HTTPFields) -> HTTPFields {
    guard !headerFields.isEmpty else { return defaults }
    var fields = defaults
    fields.replace(with: headerFields)
    return HTTPFields(fields.filter { field in !(field.value.isEmpty && headerFields.contains(field.name)) })
  }
}
