internal import ImageCache

// Results that need no waiting.
extension ThumbnailPipeline {
  /// Returns the thumbnails of a request that are in memory, at once: for a table cell that has to show something now.
  /// Makes no request, and reads nothing from disk.
  ///
  /// ```swift
  /// cell.show(pipeline.cached(request) ?? placeholder)
  /// ```
  ///
  /// - Parameter request: The image and the sizes. Its mirrors, its milestones and its priority are ignored.
  /// - Returns: Nil if a size is not in memory, if the entry is stale or has other bytes than the request expects, if
  ///   the source is known to fail, and for an invalid request. ``load(_:on:progress:completion:)`` finds out more.
  public func cached(_ request: ThumbnailRequest) -> ThumbnailSet? { context.thumbnailsInMemory(request) }
}

extension ThumbnailContext {
  /// Returns the thumbnails of a request that are in memory; nil if the disk or the server is needed, and for failures.
  func thumbnailsInMemory(_ request: ThumbnailRequest) -> ThumbnailSet? {
    guard let key = try? identity(of: request).key else { return nil }
    let begin = ContinuousClock.now
    return cache.memoryEntry(for: key.source, url: key.url, specs: request.specs) { entry in
      let set = try? outcome(of: entry, request, begin: begin)?.get()
      return set?.origin == .stale ? nil : set
    }
  }
}
