/// Decides when cached entries are served.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
  /// Serves fresh entries and revalidates stale ones.
  case normal
  /// Serves fresh images like ``normal``, but no failure that was remembered before the batch, such as a 404: its
  /// source is requested again.
  case retry
  /// Revalidates every entry, fresh or not.
  case refresh
  /// Serves every entry, fresh or not, and makes no requests.
  case offline
}
