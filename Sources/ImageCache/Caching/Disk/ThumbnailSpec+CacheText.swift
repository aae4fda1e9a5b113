extension ThumbnailSpec {
  /// Everything that determines the pixels of a thumbnail, including the renderer version, as one line. Part of its
  /// key.
  ///
  /// `1 256x256@1 inside never auto 82 ffffff lanczos3 perceptual baseline`
  var cacheText: String {
    let numbers = ["\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "\(quality)", "\(background)"]
    return (numbers + look + [filter.rawValue, light.rawValue, scans.rawValue]).joined(separator: " ")
  }

  /// Parses a ``cacheText``; nil for another renderer version or any other text.
  init?(cacheText text: String) {
    let words = text.split(separator: " ")
    guard words.count == 10, Int(words[0]) == Renderer.version,
      let fit = Fit(rawValue: String(words[2])), let enlargement = Enlargement(rawValue: String(words[3])),
      let format = Format(rawValue: String(words[4])), let quality = Int(words[5]),
      let background = Color(String(words[6])), let filter = Filter(rawValue: String(words[7])),
      let light = Light(rawValue: String(words[8])), let scans = Scans(rawValue: String(words[9]))
    else { return nil }
    let numbers = words[1].split(whereSeparator: { $0 == "x" || $0 == "@" }).compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    self.init(
      width: numbers[0], height: numbers[1], scale: numbers[2], fit: fit, enlargement: enlargement, format: format,
      quality: quality, background: background, filter: filter, light: light, scans: scans)
  }
}
