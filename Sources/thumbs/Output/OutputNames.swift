import ImageCache

/// Gives every row the names of its files, so that two different sources never share one.
///
/// Of two sources with the same name, the first in the manifest keeps it; the later gets `-` and the first eight digits
/// of its hash before the extension (more digits where even those are taken). Names are given in the order of the
/// manifest and before anything is fetched, so the same manifest gives the same names in every run. The extension is
/// not yet known then and does not tell two names apart: `a.jpg` and `a.png` of two sources count as the same name. So
/// do names that differ only in case or in the way their letters are composed, which some file systems take for one.
///
/// Memory: 16 bytes a distinct file, and the dictionary's slack; none where the row's index makes names distinct.
struct OutputNames: Sendable {
  private static let suffixLengths = [8, 16, 32]

  private let template: NameTemplate
  private let hash: @Sendable (String) -> String
  /// The source of every name. Both are kept as 64-bit hashes: two names that share one cost a needless suffix.
  private var owners: [Int: Int] = [:]

  /// Names by `template`. `hash` gives at least 32 hexadecimal digits for an address, the same in every run.
  init(_ template: NameTemplate, hash: @escaping @Sendable (String) -> String) {
    self.template = template
    self.hash = hash
  }

  /// The names of the files of `row`, one for each of `specs`. Rows with the same address and the same name get the same
  /// files, unless they ask for other sizes or send other header fields.
  mutating func claim(_ row: ManifestRow, specs: [ThumbnailSpec]) -> OutputName {
    let identity = row.pictureIdentity
    let name = name(of: row, identity: identity)
    if template.isUniqueToRow { return name }
    if own(name, specs, source: identity) { return name }
    let hash = hash(identity)
    for length in Self.suffixLengths {
      let longer = name.adding(suffix: "-\(hash.prefix(length))")
      if own(longer, specs, source: identity) { return longer }
    }
    // Other rows are named like this one with all of its hash.
    var number = 2
    while !own(name.adding(suffix: "-\(hash)-\(number)"), specs, source: identity) { number += 1 }
    return name.adding(suffix: "-\(hash)-\(number)")
  }

  private func name(of row: ManifestRow, identity: String) -> OutputName {
    let address = SourceAddress(row.url)
    return OutputName(row.options.sizes.count > 1 ? template.tellingSizesApart : template) { field in
      switch field {
      case .name: row.name ?? address.stem
      case .index: String(row.index)
      case .host: address.host
      case .hash: String(hash(identity).prefix(8))
      default: address.stem
      }
    }
  }

  /// Takes the files of `name` for `source`, all of them or none: not where another source has one.
  private mutating func own(_ name: OutputName, _ specs: [ThumbnailSpec], source: String) -> Bool {
    let source = source.byteHash
    // Strings hash alike that are canonically equivalent: for names, that is what is wanted.
    let claims = Set(specs.map { name.claim(of: $0).hashValue })
    guard claims.allSatisfy({ owners[$0] ?? source == source }) else { return false }
    for claim in claims { owners[claim] = source }
    return true
  }
}

extension ManifestRow {
  /// What decides which bytes are in the row's files: the address, and what the row says of sizes and header fields.
  fileprivate var pictureIdentity: String {
    if options.sizes.isEmpty, options.headers.isEmpty { return url }
    let parts = options.sizes.map(\.description) + options.headers.map { "\($0.name): \($0.value)" }
    return ([url] + parts).joined(separator: "\0")
  }
}

extension String {
  /// A hash of the bytes, which differs as soon as one of them does: that of a string takes `é` and `e` with an accent for
  /// the same. Another one in every process.
  var byteHash: Int {
    var hasher = Hasher()
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
