/// The brands of an ISO base media file: the formats that it conforms to (ISO/IEC 14496-12, section 4.3).
struct ContainerBrands {
  /// The maximum number of bytes in which brands are looked for. Real files have about ten brands, of 4 bytes each.
  private static let limit = 512

  /// The major brand, and then the compatible ones.
  private let brands: [String]
  private let isCut: Bool

  /// Reads the brands of the file that begins with `prefix`; nil if it is no such file.
  init?(_ prefix: Span<UInt8>) {
    guard prefix.count >= 12, prefix.has("ftyp", at: 4) else { return nil }
    let end = min(prefix.uint32(at: 0) ?? 0, Self.limit)
    isCut = prefix.count < end
    var brands: [String] = []
    for start in [8] + Array(stride(from: 16, through: min(end, prefix.count) - 4, by: 4)) {
      brands.append(String(decoding: (0..<4).map { prefix[start + $0] }, as: UTF8.self))
    }
    self.brands = brands
  }

  /// True if the brands after `prefix` decide.
  var isUndecided: Bool { isCut && Self.any.contains(brands[0]) }

  /// The format of the images in the file; nil for a video or another kind of file, and while that is undecided. An
  /// image whose major brand stands for any coding is AVIF if it is compatible with that, and otherwise for the library
  /// that reads most codings.
  var format: IsolatedFormat? {
    let isAny = Self.any.contains(brands[0])
    if isUndecided { return nil }
    if Self.avif.contains(brands[0]) || isAny && brands.contains(where: Self.avif.contains) { return .avif }
    return isAny || Self.heic.contains(brands[0]) ? .heic : nil
  }

  private static let avif: Set = ["avif", "avis", "avio", "MA1A", "MA1B"]
  private static let heic: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "MiHE", "MiHB"]
  /// Brands of images in any coding.
  private static let any: Set = ["mif1", "mif2", "msf1", "miaf"]
}
