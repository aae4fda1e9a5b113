extension ThumbnailSpec {
  /// A canonical string of everything that determines the thumbnail's pixels, including the renderer's version.
  ///
  /// Two specs are equal if and only if their fingerprints are. Suitable as a cache key: stable across processes,
  /// ASCII, without spaces, shorter than 100 characters.
  /// Example: `v1-256x256@1-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline`. The gravity follows,
  /// if it has an effect and is not the center.
  public var fingerprint: String {
    let parts = ["v\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "q\(quality)", "\(background)"]
    let scaling = [filter.rawValue, light.rawValue, scans.rawValue]
    return (parts + look + scaling + gravityTexts).joined(separator: "-")
  }

  /// Creates the spec whose ``fingerprint`` is `text`, written by any version of the renderer; nil if the text is not a
  /// fingerprint, or if its box, scale or quality is out of range.
  public init?(fingerprint text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard (10...11).contains(parts.count), parts[0].hasPrefix("v"), Int(parts[0].dropFirst()) != nil,
      parts[5].hasPrefix("q"),
      let fit = Fit(rawValue: parts[2]), let enlargement = Enlargement(rawValue: parts[3]),
      let format = Format(rawValue: parts[4]), let quality = Int(parts[5].dropFirst()),
      let background = Color(parts[6]), let filter = Filter(rawValue: parts[7]),
      let light = Light(rawValue: parts[8]), let scans = Scans(rawValue: parts[9]),
      let gravity = Self.gravity(parts.dropFirst(10), fit)
    else { return nil }
    let numbers = parts[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3, (1...100).contains(quality), (1...8).contains(numbers[2]),
      numbers.dropLast().allSatisfy({ (1...Self.largestSide / numbers[2]).contains($0) })
    else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, gravity: gravity, enlargement: enlargement,
      format: format, quality: quality, background: background, filter: filter, light: light, scans: scans)
  }

  /// The text of the gravity, for the end of a canonical string; none for the center, or if it has no effect, so that
  /// such strings are as they were before there was a gravity.
  var gravityTexts: [String] { effectiveGravity == .center ? [] : [effectiveGravity.description] }

  /// Parses ``gravityTexts`` of a spec with this fit; nil for anything that it never is.
  static func gravity(_ texts: ArraySlice<String>, _ fit: Fit) -> Gravity? {
    guard let text = texts.first else { return .center }
    guard texts.count == 1, fit == .cover, let gravity = Gravity(text), gravity != .center else { return nil }
    return gravity
  }
}
