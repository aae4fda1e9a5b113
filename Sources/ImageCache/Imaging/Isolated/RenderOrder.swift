/// The text of a request to render thumbnails in another process: the limits, then one spec per line.
///
/// `order 100000000 0 67108864 error 0`
package struct RenderOrder: Sendable {
  /// The thumbnails to render.
  package var specs: [ThumbnailSpec]
  /// The renderer with the limits.
  package var renderer: Renderer
  /// The bytes of the ink profile that follows the text; 0 without a profile.
  package var inkCount: Int

  init(_ specs: [ThumbnailSpec], _ renderer: Renderer) {
    (self.specs, self.renderer) = (specs, renderer)
    inkCount = renderer.caches.transforms.inks?.bytes.count ?? 0
  }

  /// The thumbnails that the other process makes: pixels in place of AVIF, because it cannot start an encoder.
  var processSpecs: [ThumbnailSpec] {
    specs.map { spec in
      var spec = spec
      if spec.format == .avif { spec.format = .rgba }
      return spec
    }
  }

  /// The bytes of the ink profile.
  var inks: [UInt8] { renderer.caches.transforms.inks?.bytes ?? [] }

  /// The text.
  var text: String {
    let limits = [renderer.maxPixels, renderer.minPixels, renderer.maxOutputPixels].map { "\($0)" }
    let first = (["order"] + limits + [renderer.failLevel.rawValue, "\(inkCount)"]).joined(separator: " ")
    return ([first] + processSpecs.map(\.cacheText)).joined(separator: "\n")
  }

  /// Parses a ``text``; nil for any other. `base` returns the renderer for the ink profile of `inkCount` bytes that
  /// follows the text. Its kernels and color transforms are used again.
  package init?(_ text: String, base: (_ inkCount: Int) -> Renderer?) {
    var lines = text.split(separator: "\n").map(String.init)[...]
    guard let words = lines.popFirst()?.split(separator: " "), words.count == 6, words[0] == "order",
      let maxPixels = Int(words[1]), let minPixels = Int(words[2]), let maxOutputPixels = Int(words[3]),
      let failLevel = FailLevel(rawValue: String(words[4])), let inkCount = Int(words[5]), let base = base(inkCount)
    else { return nil }
    renderer = base
    renderer.maxPixels = maxPixels
    (renderer.minPixels, renderer.maxOutputPixels) = (minPixels, maxOutputPixels)
    renderer.failLevel = failLevel
    self.inkCount = inkCount
    specs = lines.compactMap(ThumbnailSpec.init(cacheText:))
    guard specs.count == lines.count else { return nil }
  }
}
