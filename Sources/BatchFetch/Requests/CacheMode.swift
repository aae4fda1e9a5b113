/// Decides when cached entries are served.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
  /// Serves fresh entries and revalidates stale ones.
  case normal
  /// Revalidates every entry, fresh or not.
  case refresh
  /// Serves every entry, fresh or not, and makes no requests.
  case offline
}
