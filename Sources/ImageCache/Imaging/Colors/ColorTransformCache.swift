import CImage
import Synchronization

/// A cache of color transforms, because many images share a profile and creating a transform takes about as long as
/// decoding an image.
///
/// Keeps the 24 most recently used transforms, of at most 16 MiB of profiles in all. A transform takes 0.1 to 2 MB.
final class ColorTransformCache: Sendable {
  /// Everything that determines a transform.
  private struct Key: Hashable {
    let colors: SourceColors
    let model: CImageColorModel
  }

  /// The result of examining a profile. Without a transform, no conversion is needed.
  private struct Finding {
    var transform: ColorTransform?
    var warnings: [String] = []
  }

  private struct State {
    var findings = RecentTable<Key, Finding>(largestCount: 24, largestCost: 16 << 20)
    var makeCount = 0
  }

  /// The profile of CMYK images that have none. nil: their inks are assumed to be ideal.
  let inks: InkProfile?
  private let state = Mutex(State())

  init(inks: InkProfile? = nil) { self.inks = inks }

  /// The number of profiles examined so far.
  var makeCount: Int { state.withLock { $0.makeCount } }

  /// The number of cached results.
  var count: Int { state.withLock { $0.findings.count } }

  /// Returns the transform of `colors` for samples of `model`; nil if no conversion is needed or, with a warning, if
  /// the profile is malformed. Throws `outOfMemory`, which is not cached.
  ///
  /// If threads A and B need the same new colors at once, both examine them; the second result replaces the first.
  func transform(
    of colors: SourceColors, model: CImageColorModel, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    let key = Key(colors: colors, model: model)
    let finding: Finding
    if let known = state.withLock({ $0.findings.value(for: key) }) {
      finding = known
    } else {
      finding = try examine(key)
    }
    warnings += finding.warnings.filter { !warnings.contains($0) }
    return finding.transform
  }

  private func examine(_ key: Key) throws(ImageError) -> Finding {
    var finding = Finding()
    switch key.colors {
    case .profile(let profile):
      finding.transform = try ColorTransform.making(profile, model: key.model, warnings: &finding.warnings)
    case .encoding(let encoding):
      finding.transform = try ColorTransform.making(encoding, model: key.model, warnings: &finding.warnings)
    }
    // Bound to a name, so that the dropped transforms are freed after the lock is released.
    let dropped = state.withLock { state in
      state.makeCount += 1
      return state.findings.insert(finding, for: key, cost: key.colors.byteCount)
    }
    _ = dropped
    return finding
  }
}
