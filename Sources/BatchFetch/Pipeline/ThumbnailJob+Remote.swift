internal import Foundation
internal import HTTPTypes
internal import ImageCache

// The remote cache: looked up between the disk and the download, and filled with what was downloaded.
extension ThumbnailJob {
  /// Looks up `specs` in the remote cache, and downloads the source if that does not have them.
  ///
  /// - Parameter image: The stale image in the local cache, if any.
  func lookUpRemotely(_ specs: [ThumbnailSpec], confirming image: CachedImage?) {
    // The response is not for everyone, so nobody has uploaded it.
    guard image?.source.policy.isShareable != false else { return download(confirming: image) }
    lookUpRemotely(specs, .nothingFresh(image))
  }

  /// Looks up `specs` in the remote cache. The local cache has a fresh `source` without them.
  func lookUpRemotely(_ specs: [ThumbnailSpec], completing source: StoredSource) {
    guard source.isShareable else { return download(confirming: nil) }
    lookUpRemotely(specs, .fresh(source))
  }

  private func lookUpRemotely(_ specs: [ThumbnailSpec], _ local: RemoteQuery.Local) {
    guard let remote = context.remote, mode != .offline, isForEveryone else {
      return download(confirming: local.image)
    }
    let query = RemoteQuery(key: key, url: identity.url, specs: specs, local: local)
    slot.run { demand in
      remote.lookUp(query, demand.priority) { [context] in
        context.runningCount
      } completion: { [self] finding in
        slot.end()
        // The cache may block, and completions of callers run there as well.
        context.callbacks.async { [self] in found(finding, query) }
      }
    }
  }

  private func found(_ finding: RemoteFinding, _ query: RemoteQuery) {
    // All callers left during the lookup.
    guard let demand = context.demand(of: self) else { return }
    self.finding = finding
    let decision = RemoteDecision(
      finding, query, mode: mode, failLevel: context.renderer.failLevel, now: context.now())
    switch decision {
    case .serve(let image):
      if let failure = context.content.failure(of: image.source) { return conclude(.failure(failure)) }
      // The URL may lead to the expected bytes by now.
      guard demand.accepts(image.source) else { return download(confirming: query.local.image) }
      keep(image)
      serve(image, .remote)
    case .fail(let failure, var source):
      source.obtained = .now
      context.cache.store(source, thumbnails: [], for: key)
      conclude(.failure(failure))
    case .confirm(let image):
      context.cache.store(image.source, thumbnails: Array(image.thumbnails.values), for: key)
      download(confirming: image)
    case .proceed: download(confirming: query.local.image)
    }
  }

  /// Stores an image from the remote cache in the local one. It counts as received just now.
  private func keep(_ image: CachedImage) {
    var source = image.source
    source.obtained = .now
    context.cache.store(source, thumbnails: Array(image.thumbnails.values), for: key)
  }

  // MARK: Uploads

  /// Uploads a source that its host has just sent or confirmed, and those of its thumbnails that the remote cache may
  /// lack.
  func upload(_ source: StoredSource, _ thumbnails: [Thumbnail]) {
    guard let remote = context.remote, source.isShareable, isForEveryone else { return }
    let finding = finding
    var missing = thumbnails
    if let finding, let known = finding.source?.digest, known == source.digest {
      // A caller may have joined with a size that was not looked up.
      missing.removeAll { finding.thumbnails[$0.spec] != nil }
    }
    remote.upload(
      RemoteWrite(
        key: key, source: source, digest: source.digest, thumbnails: missing, unusable: finding?.unusable ?? []))
  }

  /// Uploads thumbnails that were made from a kept original. The object of its source stays as it is.
  func upload(_ thumbnails: [Thumbnail], of source: StoredSource) {
    guard let remote = context.remote, source.isShareable, isForEveryone else { return }
    remote.upload(RemoteWrite(key: key, source: nil, digest: source.digest, thumbnails: thumbnails, unusable: []))
  }

  /// True if the response does not depend on the user: the request has no credentials in any form, no signature in its
  /// URL that the key leaves out, no page but the first, no code that changes pixels, no separate rule for IP
  /// addresses, no header fields that may be secret, and is sent to a server that is the same for every machine, and
  /// trusted in the same way.
  private var isForEveryone: Bool {
    guard !identity.isChosen, options.modifier == nil, options.process == nil, context.page(of: options) == 1,
      context.unusualAddresses(options) == nil
    else { return false }
    guard context.sharing.allows(source), context.transport.variant(of: source).isEmpty else { return false }
    return (headerFields + context.usualFields(source.host)).allSatisfy { Self.sharedFields.contains($0.name) }
  }

  /// The header fields that are not secret.
  private static let sharedFields: Set<HTTPField.Name> = [.userAgent, .accept, .acceptLanguage, .referer]
}

extension RemoteQuery.Local {
  /// The stale image in the local cache, if any.
  fileprivate var image: CachedImage? { if case .nothingFresh(let image) = self { image } else { nil } }
}
