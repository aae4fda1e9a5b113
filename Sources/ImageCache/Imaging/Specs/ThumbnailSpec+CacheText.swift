extension ThumbnailSpec {
  /// Everything that determines the pixels of a thumbnail, including the renderer version, as one line. Part of its
  /// key.
  ///
  /// `1 256x256@1 inside never auto 82 ffffff lanczos3 perceptual baseline`, and the gravity, if it has an effect and
  /// is not the center.
  var cacheText: String {
    let numbers = ["\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "\(quality)", "\(background)"]
    let scaling = [filter.rawValue, light.rawValue, scans.rawValue]
    return (numbers + look + scaling + gravityTexts).joined(separator: " ")
  }

  /// Parses a ``cacheText``; nil for another renderer version or any other text.
  init?(cacheText text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard (10...11).contains(words.count), Int(words[0]) == Renderer.version,
      let fit = Fit(rawValue: words[2]), let enlargement = Enlargement(rawValue: words[3]),
      let format = Format(rawValue: words[4]), let quality = Int(words[5]),
      let background = Color(words[6]), let filter = Filter(rawValue: words[7]),
      let light = Light(rawValue: words[8]), let scans = Scans(rawValue: words[9]),
      let gravity = Self.gravity(words.dropFirst(10), fit)
    else { return nil }
    let numbers = words[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, gravity: gravity, enlargement: enlargement,
      format: format, quality: quality, background: background, filter: filter, light: light, scans: scans)
  }
}
