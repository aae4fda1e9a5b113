/// How far the cache is believed.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
  /// Fresh entries are served, stale ones validated.
  case normal
  /// Every entry is validated, fresh or not.
  case refresh
  /// Every entry is served, and no server is asked.
  case offline
}
