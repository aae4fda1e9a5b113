extension ThumbnailSpec {
  /// A canonical text of everything that decides the thumbnail's pixels, the renderer's version included.
  ///
  /// Two specs are equal exactly when their fingerprints are. Fit for cache keys: stable across processes, ASCII,
  /// without spaces, less than 100 characters.
  /// Example: `v1-256x256@1-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline`.
  public var fingerprint: String {
    let parts = ["v\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "q\(quality)", "\(background)"]
    return (parts + look + [filter.rawValue, light.rawValue, scans.rawValue]).joined(separator: "-")
  }

  /// The spec whose ``fingerprint`` is `text`, of any version of the renderer; nil for any other text, and for a box, a
  /// scale or a quality out of its range.
  public init?(fingerprint text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 10, parts[0].hasPrefix("v"), Int(parts[0].dropFirst()) != nil, parts[5].hasPrefix("q"),
      let fit = Fit(rawValue: parts[2]), let enlargement = Enlargement(rawValue: parts[3]),
      let format = Format(rawValue: parts[4]), let quality = Int(parts[5].dropFirst()),
      let background = Color(parts[6]), let filter = Filter(rawValue: parts[7]),
      let light = Light(rawValue: parts[8]), let scans = Scans(rawValue: parts[9])
    else { return nil }
    let numbers = parts[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3, (1...100).contains(quality), (1...8).contains(numbers[2]),
      numbers.dropLast().allSatisfy({ (1...Self.largestSide / numbers[2]).contains($0) })
    else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, enlargement: enlargement, format: format,
      quality: quality, background: background, filter: filter, light: light, scans: scans)
  }
}
