import CImage
import Synchronization

/// A conversion of the colors of an image to sRGB or to Display P3. Immutable.
final class ColorTransform: Sendable {
  /// The colors that are converted, and the form of the samples.
  let source: SourceColors
  let model: CImageColorModel
  /// The C transform. `nonisolated(unsafe)` only because it is a pointer: its memory never changes after `init`, so any
  /// thread may read it.
  nonisolated(unsafe) let handle: OpaquePointer

  /// Creates the conversion for samples of `model`. Returns nil if nothing needs conversion or, with a warning, if the
  /// profile is malformed or describes another color model, or if an encoding is impossible. Throws `outOfMemory` if
  /// memory runs out.
  fileprivate static func making(
    _ source: SourceColors, model: CImageColorModel, to target: CImageTarget = .SRGB, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    var handle: OpaquePointer?
    let encoding: ColorEncoding
    switch source {
    case .encoding(let declared): encoding = declared
    case .profile(let profile):
      guard let found = ColorEncoding(profile: profile) else {
        try CImageCall.run(&warnings) { cimage_transform_create(profile, profile.count, model, target, &handle, $0) }
        return handle.map { ColorTransform($0, source, model) }
      }
      encoding = found
    }
    try CImageCall.run(&warnings) { cimage_transform_create_encoded(encoding.view, model, target, &handle, $0) }
    return handle.map { ColorTransform($0, source, model) }
  }

  private init(_ handle: OpaquePointer, _ source: SourceColors, _ model: CImageColorModel) {
    (self.handle, self.source, self.model) = (handle, source, model)
  }

  /// True if a conversion to sRGB loses colors that the image may have.
  var losesColors: Bool { cimage_transform_loses_colors(handle) == 1 }

  deinit { cimage_transform_destroy(handle) }

  /// Converts every pixel in place. The rows must have the transform's model.
  func apply(to rows: CImageBitmap) { cimage_transform_apply(handle, rows) }

  /// Converts luma and chroma planes in place. Chroma has the size of luma, or half of it rounded up. The transform's
  /// model must be RGB. Throws `outOfMemory`.
  func apply(toPlanes planes: [Plane]) throws(ImageError) {
    try CImageCall.run { _ in cimage_transform_apply_planes(handle, planes.map(\.view)) }
  }
}

extension CImageColorModel {
  /// Creates the color model of decoded samples. Luma and chroma planes are converted as RGB.
  init(_ layout: PixelLayout) {
    self =
      switch layout {
      case .gray: .gray
      case .grayAlpha: .grayAlpha
      case .rgb, .planes: .RGB
      case .rgba: .RGBA
      }
  }
}

/// A cache of color transforms, because many images share a profile and creating a transform takes about as long as
/// decoding an image.
///
/// Keeps the 24 most recently used transforms, of at most 16 MiB of profiles in all. A transform takes 0.1 to 2 MB.
final class ColorTransformCache: Sendable {
  /// Everything that determines a transform.
  private struct Key: Hashable {
    let colors: SourceColors
    let model: CImageColorModel
    let target: CImageTarget
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

  /// Returns the transform of `colors` to a target for samples of `model`; nil if no conversion is needed or, with a
  /// warning, if the profile is malformed. Throws `outOfMemory`, which is not cached.
  ///
  /// If threads A and B need the same new colors at once, both examine them; the second result replaces the first.
  func transform(
    of colors: SourceColors, model: CImageColorModel, to target: CImageTarget = .SRGB, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    let key = Key(colors: colors, model: model, target: target)
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
    finding.transform = try ColorTransform.making(
      key.colors, model: key.model, to: key.target, warnings: &finding.warnings)
    // Bound to a name, so that the dropped transforms are freed after the lock is released.
    let dropped = state.withLock { state in
      state.makeCount += 1
      return state.findings.insert(finding, for: key, cost: key.colors.byteCount)
    }
    _ = dropped
    return finding
  }
}

/// An ICC profile of CMYK inks, for images that have none.
///
/// Without a profile, inks are assumed to be ideal: each absorbs only its own color. Browsers do the same, but photos
/// prepared for print then look too bright and too saturated.
public struct InkProfile: Hashable, Sendable {
  /// The bytes of the profile.
  public let bytes: [UInt8]

  /// Creates a profile from the contents of an ICC file (ICC.1:2010).
  ///
  /// - Throws: `badSpec` if `bytes` are not a profile that converts CMYK colors; `outOfMemory`.
  public init(_ bytes: [UInt8]) throws(ImageError) {
    var warnings: [String] = []
    guard try ColorTransform.making(.profile(bytes), model: .CMYK, warnings: &warnings) != nil else {
      throw ImageError(.badSpec, "It is not a valid ICC profile of CMYK inks.")
    }
    self.bytes = bytes
  }
}
