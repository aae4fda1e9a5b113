import ImageCache

/// The file names of one row, settled except for the fields that only a finished thumbnail has. They are paths relative
/// to the output directory.
struct OutputName: Hashable, Sendable {
  /// One part of the names.
  enum Part: Hashable, Sendable {
    /// Text from the pattern.
    case literal(String)
    /// Text from the row.
    case value(String)
    /// A field of the thumbnail.
    case field(NameTemplate.Field)
    /// The end of the name of a subdirectory.
    case slash

    fileprivate var isValue: Bool { if case .value = self { true } else { false } }
    /// True for a field that only the finished thumbnail settles; the requested size is known beforehand.
    fileprivate var isSettledLate: Bool { if case .field(let field) = self { field != .spec } else { false } }
  }

  /// The bytes reserved for a suffix of 32 digits and for what ``FileNameText`` adds.
  private static let reserve = 40

  /// The parts, in order.
  var parts: [Part]

  /// Creates the names that `template` describes, with `values` for the fields of the row. Shortens values, the longest
  /// first, so that no name of a directory or file is too long.
  init(_ template: NameTemplate, values: (NameTemplate.Field) -> String) {
    let components = template.components.map { pieces in
      let parts = pieces.map { Self.part($0, values) }
      return Self.shorten(parts, to: FileNameText.longestName - Self.reserve - pieces.fixedLength)
    }
    parts = Array(components.joined(separator: [.slash]))
  }

  private static func part(_ piece: NameTemplate.Piece, _ values: (NameTemplate.Field) -> String) -> Part {
    switch piece {
    case .literal(let text): .literal(FileNameText.cleaned(text))
    case .field(.hash): .value(String(values(.hash).prefix(NameTemplate.hashLength)))
    case .field(let field): field.isKnownLate ? .field(field) : .value(FileNameText.cleaned(value: values(field)))
    case .prefix(let field, let length): .value(String(FileNameText.cleaned(value: values(field)).prefix(length)))
    case .slash: .slash
    }
  }

  /// Returns the path of `thumbnail`, relative to the output directory.
  func fileName(of thumbnail: Thumbnail) -> String {
    fileName { field in
      switch field {
      case .width: String(thumbnail.size.width)
      case .height: String(thumbnail.size.height)
      case .spec: thumbnail.spec.label
      default: thumbnail.format.fileExtension
      }
    }
  }

  /// Returns the path of a thumbnail before it exists. Fields that only the image settles stay in braces.
  func fileName(of spec: ThumbnailSpec) -> String {
    fileName { field in
      let unsettled = "{\(field.rawValue)}"
      return switch field {
      case .spec: spec.label
      case .ext: spec.format.output?.fileExtension ?? unsettled
      default: unsettled
      }
    }
  }

  /// Returns the text that reserves the file for `spec`: the name in lower case, with `0` for each field that only the
  /// thumbnail settles. No two sources may have the same claim.
  func claim(of spec: ThumbnailSpec) -> String {
    let name = fileName { $0 == .spec ? spec.label : "0" }.lowercased()
    return isAmbiguous ? String(name.filter { !Self.lateCharacters.contains($0) }) : name
  }

  /// True if the names contain the size in pixels. Such a name may turn out to equal that of another row, one with
  /// several sizes: `x-64x48-{spec}` and `x-{width}x{height}` for example.
  var dependsOnPixels: Bool { parts.contains(.field(.width)) || parts.contains(.field(.height)) }

  /// True if text from the row stands both before and after a field that only the thumbnail settles. Then two rows can
  /// reach the same name in different ways: `a-{width}-96-b` and `a-96-{width}-b`, if both are 96 pixels wide.
  private var isAmbiguous: Bool {
    guard let first = parts.firstIndex(where: \.isSettledLate), let last = parts.lastIndex(where: \.isSettledLate)
    else {
      return false
    }
    return parts[..<first].contains(where: \.isValue) && parts[first...].contains(where: \.isValue)
      || parts[first...last].contains(where: \.isValue)
  }

  /// The characters of widths, heights and extensions. Names that are equal without them may turn out to be the same.
  /// Those of AVIF count on machines without its encoder as well, so that all machines give the same names.
  private static let lateCharacters = Set(
    "0123456789" + (OutputFormat.inProcess + [.avif]).map(\.fileExtension).joined())

  /// Returns these names with `suffix` before the extension.
  func adding(suffix: String) -> OutputName {
    var copy = self
    let file = (parts.lastIndex(of: .slash) ?? -1) + 1
    for index in parts[file...].indices.reversed() {
      if case .literal(let text) = parts[index], let dot = text.lastIndex(of: ".") {
        copy.parts[index] = .literal(text[..<dot] + suffix + text[dot...])
        return copy
      }
    }
    copy.parts.append(.literal(suffix))
    return copy
  }

  private func fileName(value: (NameTemplate.Field) -> String) -> String {
    let texts = parts.map { part in
      switch part {
      case .literal(let text), .value(let text): text
      case .field(let field): value(field)
      case .slash: "/"
      }
    }
    guard parts.contains(.slash) else { return FileNameText.guarded(texts.joined()) }
    return FileNameText.components(of: texts.joined()).map(FileNameText.guarded).joined(separator: "/")
  }

  /// Returns `parts` with values shortened to `limit` bytes in total, the longest first.
  private static func shorten(_ parts: [Part], to limit: Int) -> [Part] {
    let lengths = parts.map { if case .value(let text) = $0 { text.utf8.count } else { 0 } }
    let excess = lengths.reduce(0, +) - limit
    guard excess > 0, let longest = lengths.indices.max(by: { lengths[$0] < lengths[$1] }),
      case .value(let text) = parts[longest]
    else { return parts }
    var parts = parts
    parts[longest] = .value(FileNameText.truncated(text, to: max(0, text.utf8.count - excess)))
    return shorten(parts, to: limit)
  }
}
