import CImage
import Synchronization

/// Transforms of profiles that come again and again: making one takes about as long as decoding an image.
///
/// Bounded, however many different profiles come: it keeps the most recently used 24, made of at most 16 MiB of
/// profiles. A transform takes some 0.1 to 2 MB.
final class ColorTransformCache: Sendable {
  /// Everything that decides a transform. The bytes themselves, not a digest: a file must not choose the colors of another.
  private struct Key: Hashable {
    let profile: [UInt8]
    let model: CImageColorModel
  }

  /// What was found out about a profile. Without a transform nothing is to be converted.
  private struct Finding {
    var transform: ColorTransform?
    var warnings: [String] = []
  }

  private struct State {
    var findings = RecentTable<Key, Finding>(largestCount: 24, largestCost: 16 << 20)
    var makeCount = 0
  }

  private let state = Mutex(State())

  /// The number of profiles examined so far. One that is known is not examined again.
  var makeCount: Int { state.withLock { $0.makeCount } }

  /// The number of profiles that are known.
  var count: Int { state.withLock { $0.findings.count } }

  /// The transform of `profile` for samples of `model`; nil when there is nothing to convert, with a warning when the
  /// profile is broken. Throws `outOfMemory`, which is not remembered.
  ///
  /// Two threads may examine one profile at the same time; that does no harm.
  func transform(
    of profile: [UInt8], model: CImageColorModel, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    let key = Key(profile: profile, model: model)
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
    finding.transform = try ColorTransform.making(key.profile, model: key.model, warnings: &finding.warnings)
    // Bound to a name, so that transforms that are dropped are freed outside the lock.
    let dropped = state.withLock { state in
      state.makeCount += 1
      return state.findings.insert(finding, for: key, cost: key.profile.count)
    }
    _ = dropped
    return finding
  }
}
