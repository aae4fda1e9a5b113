internal import ImageCache

// The first step: the lookup in the cache, and what follows from the entry.
extension ThumbnailJob {
  /// Looks up several jobs of one pipeline at once, which costs less than one after the other.
  static func lookUp(_ jobs: [ThumbnailJob]) {
    guard let context = jobs.first?.context else { return }
    for job in jobs { job.slot.end() }
    let wanted = jobs.compactMap { job in context.demand(of: job).map { (job: job, demand: $0) } }
    let lookups = wanted.map { job, demand in
      CacheLookup(key: job.key, url: job.identity.url, specs: demand.specs)
    }
    for ((job, demand), entry) in zip(wanted, context.cache.entries(for: lookups)) { job.found(entry, for: demand) }
  }

  private func found(_ entry: CacheEntry?, for demand: RenderDemand) {
    let decision = CacheDecision(
      entry, demand, mode: mode, failLevel: context.renderer.failLevel, content: context.content,
      now: context.now())
    switch decision {
    case .serve(let image, let origin): serve(image, origin)
    case .fail(let failure): conclude(.failure(failure))
    case .complete(let source): complete(source)
    case .fetch(let image): lookUpRemotely(demand.specs, confirming: image)
    }
  }

  /// Renders the missing sizes from the original, if the cache has kept it. The original is taken from memory, or read
  /// from disk, when there is room for it among the bytes in hand.
  private func complete(_ source: StoredSource) {
    if let failure = context.content.failure(of: source) { return conclude(.failure(failure)) }
    let bytes = if case .image(_, _, let bytes) = source.content { bytes } else { 0 }
    waitForRoom(bytes) { job in
      let body = job.context.cache.memoryOriginal(of: source, for: job.key)
      if body.isEmpty {
        job.wait(in: job.context.reads, holding: bytes) { $0.readOriginal(of: source, holding: bytes) }
      } else {
        job.queue(holding: bytes) { $0.renderRounds(.kept(source, body, .memory)) }
      }
    }
  }

  private func readOriginal(of source: StoredSource, holding bytes: Int) {
    guard let demand = context.demand(of: self) else { return context.budget.release(bytes) }
    let body = context.cache.original(of: source, for: key)
    guard body.isEmpty else { return queue(holding: bytes) { $0.renderRounds(.kept(source, body, .disk)) } }
    context.budget.release(bytes)
    if mode == .offline {
      conclude(.failure(CacheDecision.offlineMiss))
    } else {
      lookUpRemotely(demand.specs, completing: source)
    }
  }
}
