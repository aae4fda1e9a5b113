internal import ImageCache

/// The identity of a job: requests with the same key are served by the same work.
struct JobKey: Hashable, Sendable {
  /// The key of the cache entry.
  let source: SourceKey
  /// The URL in the cache entry, or what stands for it.
  let url: String
  /// True if the caller or the pipeline has chosen what stands for the URL.
  let isChosen: Bool
  let options: RequestOptions

  /// Compares the key of the cache entry, which the others follow from, and the options.
  static func == (a: JobKey, b: JobKey) -> Bool { a.source == b.source && a.options == b.options }

  /// Hashes the key of the cache entry only: nearly all requests have the same options.
  func hash(into hasher: inout Hasher) { hasher.combine(source) }
}
