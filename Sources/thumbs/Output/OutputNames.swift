import ImageCache

/// Assigns file names to rows, so that two different sources never share a file.
///
/// If two sources have the same name, the first in the manifest keeps it, and the later one gets `-` and the first
/// eight digits of its hash before the extension, or more digits if that name is taken too. Names are assigned in
/// manifest order, before anything is fetched, so the same manifest gives the same names in every run.
///
/// The extension is not known at that point, so `a.jpg` and `a.png` of two sources count as the same name. So do names
/// that differ only in case or in Unicode normalization, which some file systems treat as equal.
///
/// Memory: 16 bytes per distinct file plus the dictionary's spare capacity; none if the row's index makes names unique.
struct OutputNames: Sendable {
  private static let suffixLengths = [8, 16, 32]

  private let template: NameTemplate
  private let hash: @Sendable (String) -> String
  /// The source of each claimed name, both as 64-bit hashes. A collision costs no more than a needless suffix.
  private var owners: [Int: Int] = [:]

  /// Creates names from `template`. `hash` must return at least 32 hexadecimal digits, the same for a source in every
  /// run.
  init(_ template: NameTemplate, hash: @escaping @Sendable (String) -> String) {
    self.template = template
    self.hash = hash
  }

  /// Returns the file names of `row`, and claims one file for each of `specs`. Rows with the same URL and name share
  /// their files, unless their own sizes, focus or header fields differ.
  mutating func claim(_ row: ManifestRow, specs: [ThumbnailSpec]) -> OutputName {
    let identity = row.outputIdentity
    let name = name(of: row, identity: identity)
    if template.isUniqueToRow { return name }
    if own(name, specs, source: identity) { return name }
    let hash = hash(identity)
    for length in Self.suffixLengths {
      let longer = name.adding(suffix: "-\(hash.prefix(length))")
      if own(longer, specs, source: identity) { return longer }
    }
    // Even the name with the whole hash is taken, by a row that happens to be called that.
    var number = 2
    while !own(name.adding(suffix: "-\(hash)-\(number)"), specs, source: identity) { number += 1 }
    return name.adding(suffix: "-\(hash)-\(number)")
  }

  private func name(of row: ManifestRow, identity: String) -> OutputName {
    let parts = SourceURLParts(row.namingURL)
    return OutputName(
      row.options.sizes.count > 1 ? template.tellingSizesApart : template,
      folders: { row.place?.folders ?? parts.folders }
    ) { field in
      switch field {
      case .name: row.name ?? parts.stem
      case .index: String(row.index)
      case .host: parts.host
      case .hash: hash(identity)
      default: parts.stem
      }
    }
  }

  /// Claims the files of `name` for `source`. Claims nothing and returns false if another source has one of them.
  private mutating func own(_ name: OutputName, _ specs: [ThumbnailSpec], source: String) -> Bool {
    let source = source.byteHash
    // Canonically equivalent strings have equal hashes, which is right for names.
    let claims = Set(specs.map { name.claim(of: $0).hashValue })
    guard claims.allSatisfy({ owners[$0] ?? source == source }) else { return false }
    for claim in claims { owners[claim] = source }
    return true
  }
}

extension ManifestRow {
  /// The URL whose parts are in the names: that of the page for its preview and its icon, whose own names say little.
  fileprivate var namingURL: String {
    guard let page, page.search != .images else { return url }
    return page.url
  }

  /// Everything that decides the contents of the row's files: its URL, and its own sizes, focus and header fields.
  fileprivate var outputIdentity: String {
    if options.sizes.isEmpty, options.headers.isEmpty, options.focus == nil { return url }
    let places = [options.focus].compactMap { $0?.description }
    let parts = options.sizes.map(\.description) + places + options.headers.map { "\($0.name): \($0.value)" }
    return ([url] + parts).joined(separator: "\0")
  }
}

extension String {
  /// A hash of the UTF-8 bytes, different in every process. Unlike `hashValue`, it tells apart canonically equivalent
  /// strings such as `é` and `e` with a combining accent.
  var byteHash: Int {
    var hasher = Hasher()
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
