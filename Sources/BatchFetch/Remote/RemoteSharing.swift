internal import HTTPTypes

/// Decides which sources all users of a remote cache may see, and which mean the same on all machines. A plain value.
///
/// Other rules follow from the header fields of the response; see `CachePolicy.isShareable`.
struct RemoteSharing: Sendable {
  /// True if sources of private networks are shared. See ``RemoteCache/allowsPrivateSources``.
  let allowsPrivateSources: Bool

  /// Returns true if a source with this URL may be shared, as far as the URL shows.
  func allows(_ source: SourceURL) -> Bool {
    source.scheme != .file && source.credentials == nil && (allowsPrivateSources || !source.isPrivate)
  }

  /// Returns true if a response to a request for `source` may be shared.
  ///
  /// A redirect must not lead to a URL with another query: it may have a signature that is meant for one user, and only
  /// the server knows which parameters are secret.
  func allows(_ head: TransferHead, from source: SourceURL) -> Bool {
    guard allowsPrivateSources || !head.isPrivate else { return false }
    return head.redirects.allSatisfy { redirect in
      guard let location = RedirectTrail.location(in: redirect.response),
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
