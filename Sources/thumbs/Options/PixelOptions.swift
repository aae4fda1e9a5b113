import ArgumentParser
import ImageCache

/// The options of the thumbnails' pixels and format.
struct PixelOptions: ParsableArguments {
  @Option(
    name: [.customShort("s", allowingJoined: true), .customLong("size"), .customLong("sizes")],
    help: ArgumentHelp(
      "Thumbnail sizes, such as 256, 200x100, 200x or 64,64@2x. Repeatable. (default: 256)",
      discussion: """
        A side is 1 to 16384 pixels after scaling; @2x doubles both sides. 200x and x100 give one side, and the other \
        follows from the image; --fit has no effect on them.
        """,
      valueName: "size"),
    transform: { try SizeOption.list($0) })
  private var sizeLists: [[SizeOption]] = []

  /// The sizes in command-line order; empty if none was given.
  var sizes: [SizeOption] { sizeLists.flatMap(\.self) }

  @Option(
    help: """
      How the image fits the thumbnail size; cover crops, pad (or contain) adds borders, stretch (or fill) distorts, \
      and outside covers the size without a crop.
      """)
  var fit = ThumbnailSpec.Fit.inside

  @Option(
    help: ArgumentHelp(
      "Part of the image that --fit cover keeps: center, a point of the compass, a point of the image, or smart.",
      discussion: """
        The points are north, northeast, east, southeast, south, southwest, west and northwest, which keep the edge \
        or corner there, and percentages of the width and height of the upright image, such as 30%,70%: that point is \
        as close to the middle of the thumbnail as possible. 'smart' looks for detail, skin and colors. A row's focus \
        replaces it.
        """,
      valueName: "place"),
    completion: .list(Gravity.named.map(\.name) + ["smart"]), transform: { try Gravity(parsing: $0) })
  var gravity = Gravity.center

  @Flag(help: "Enlarge images smaller than the thumbnail size.")
  var enlarge = false

  @Option(
    help: """
      Output format; auto keeps JPEG, PNG and WebP, and turns others into JPEG or PNG; smallest takes the \
      smaller one of WebP and these; avif needs the program thumbs-decode; gif has at most 256 colors.
      """)
  var format = ThumbnailSpec.Format.auto

  @Option(
    help: ArgumentHelp("Quality of JPEG, WebP and AVIF, 1 to 100. (default: 82)", valueName: "number"),
    transform: { try PixelOptions.number($0, 1...100) })
  var quality = 82

  @Option(
    help: ArgumentHelp(
      "Longest file of a thumbnail, such as 20KB: the quality is lowered as far as necessary.",
      discussion: """
        A thumbnail that is longer even at quality 1 fails as output_too_large; PNG and GIF have no quality.
        """,
      valueName: "size"),
    transform: { try ByteSize($0) })
  var maxOutputBytes: ByteSize?

  @Option(
    help: ArgumentHelp(
      "Remove a uniform border of the image first; without a number, the tolerance is \(usualTrim).",
      discussion: """
        The border has the color of the first pixel, give or take the tolerance, 0 to 255. At most half of the width \
        and of the height is removed.
        """,
      valueName: "tolerance"),
    transform: { try PixelOptions.number($0, 0...255) })
  var trim: Int?

  @Option(
    help: ArgumentHelp(
      "Sharpen the thumbnails by so many percent, up to 200; without a number, by \(usualSharpening).",
      valueName: "percent"),
    transform: { try PixelOptions.number($0, 0...200) })
  var sharpen: Int?

  @Option(
    help: ArgumentHelp(
      "Background color for transparency and padding in JPEG output. (default: ffffff)", valueName: "rrggbb"),
    transform: { try PixelOptions.color($0) })
  var background = ThumbnailSpec.Color.white

  @Option(
    help: ArgumentHelp(
      "Colors of the thumbnails; p3 and source keep those that sRGB lacks, in files with a profile.",
      discussion: """
        p3 is Display P3, for images with such colors; source is the profile of the image. All others stay in sRGB.
        """))
  var color = ThumbnailSpec.Colors.sRGB

  @Option(
    name: [.customLong("kernel"), .customLong("filter")],
    help: "Resampling filter; lanczos3 is the sharpest, box the plain average.")
  var filter = ThumbnailSpec.Filter.lanczos3

  @Flag(help: "Resize in linear light; keeps fine bright detail bright, but is several times slower.")
  var linear = false

  @Flag(help: "Write progressive JPEG.")
  var progressive = false

  @Flag(
    help: ArgumentHelp(
      "Keep GIF, WebP, PNG and AVIF animations moving, as animated WebP, or GIF with --format gif.",
      discussion: """
        Of more than 300 frames, every second one is left out, or more; so is what comes after 60 seconds. Images with \
        one frame are as usual. --format must be auto, webp, gif or smallest.
        """))
  var animate = false

  @Flag(help: "Report a blurred placeholder (ThumbHash) and the dominant color of each image.")
  var placeholders = false

  @Flag(
    help: ArgumentHelp(
      "Report a perceptual hash of each image, for thumbs report duplicates.",
      discussion: "It is nearly the same for the same image in another size, quality or format."))
  var phash = false

  /// Rejects specs that would fail for every image.
  func validate() throws {
    do throws(ImageError) {
      try Renderer().check(specs)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// The numbers of the options that may be given without one.
  private static let usualNumbers = ["--trim": usualTrim, "--sharpen": usualSharpening]
  private static let (usualTrim, usualSharpening) = (10, 33)

  /// Returns a command line with the numbers that it leaves out: `--trim a.jpg` becomes `--trim=10 a.jpg`.
  static func addingNumbers(to arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments.indices.map { index in
      let (argument, next) = (arguments[index], index + 1 < end ? Int(arguments[index + 1]) : nil)
      guard index < end, next == nil, let number = usualNumbers[argument] else { return argument }
      return "\(argument)=\(number)"
    }
  }

  /// One spec per distinct size, in command-line order; 256x256 if no size was given.
  var specs: [ThumbnailSpec] { specs(of: [], focus: nil) }

  /// Returns one spec per distinct size in `sizes`, in order, with the other options of the command line. Its sizes
  /// apply if `sizes` is empty, and its gravity if there is no `focus`.
  func specs(of sizes: [SizeOption], focus: Gravity?) -> [ThumbnailSpec] {
    let general = self.sizes.isEmpty ? [SizeOption(box: PixelSize(width: 256, height: 256), scale: 1)] : self.sizes
    var specs: [ThumbnailSpec] = []
    for size in sizes.isEmpty ? general : sizes {
      let spec = spec(size, focus ?? gravity)
      if !specs.contains(spec) { specs.append(spec) }
    }
    return specs
  }

  /// Returns the thumbnails to make for a row: with the row's sizes and focus, or else those of the command line. With
  /// `--placeholders` and `--phash`, the placeholder and the hash follow.
  var rowSpecs: @Sendable (RowOptions) -> [ThumbnailSpec] {
    let more = (placeholders ? [ThumbnailSpec.placeholder] : []) + (phash ? [.perceptualHash] : [])
    // One array for all usual rows, of which thousands may be parked.
    return { [self, usual = specs + more] row in
      row.sizes.isEmpty && row.focus == nil ? usual : specs(of: row.sizes, focus: row.focus) + more
    }
  }

  private func spec(_ size: SizeOption, _ gravity: Gravity) -> ThumbnailSpec {
    ThumbnailSpec(
      width: size.box.width, height: size.box.height, scale: size.scale, fit: size.hasFreeSide ? .inside : fit,
      gravity: gravity,
      enlargement: enlarge ? .allowed : .never, format: format, quality: quality, background: background,
      filter: filter, light: linear ? .linear : .perceptual, scans: progressive ? .progressive : .baseline,
      maxBytes: maxOutputBytes?.count, trim: trim, sharpening: sharpen ?? 0, colors: color,
      frames: animate ? .all : .first)
  }

  private static func number(_ text: String, _ range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw ValidationError("give a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func color(_ text: String) throws -> ThumbnailSpec.Color {
    // Three digits stand for six, as in CSS.
    let short = text.wholeMatch(of: #/#?([0-9A-Fa-f]{3})/#)
    guard let color = ThumbnailSpec.Color(short?.1.map { "\($0)\($0)" }.joined() ?? text) else {
      throw ValidationError("give six hexadecimal digits such as ffffff for white, or three such as fff")
    }
    return color
  }
}

/// The size of a thumbnail as written on the command line: `256`, `200x100`, `200x`, `64@2x`, `200x100@2x`.
struct SizeOption: Hashable, Sendable {
  /// The box in points. A side that is free has the length ``ThumbnailSpec/freeSide``.
  var box: PixelSize
  /// Pixels per point, 1 to 8.
  var scale: Int
}

extension SizeOption {
  /// Parses a size. Each side must be 1 to 16384 pixels after scaling.
  init(_ text: String) throws {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let largest = ThumbnailSpec.largestSide
    guard let scale = parts.count == 1 ? 1 : Self.scale(parts[1]) else { throw Self.fault }
    guard (1...8).contains(scale) else { throw ValidationError("the scale must be 1 to 8, as in 64@2x") }
    let (width, height) = try Self.sides(parts[0], free: ThumbnailSpec.freeSide / scale)
    guard (1...largest / scale).contains(width), (1...largest / scale).contains(height) else {
      throw ValidationError("each side must be 1 to \(largest) pixels after scaling")
    }
    self.box = PixelSize(width: width, height: height)
    self.scale = scale
  }

  /// Parses the part before the scale: `256`, `200x100`, or `200x`, `x100`, `200w` and `100h` with one side, where the
  /// other one is `free`.
  private static func sides(_ text: Substring, free: Int) throws -> (width: Int, height: Int) {
    switch text.last {
    case "w": if let width = number(text.dropLast()) { return (width, free) }
    case "h": if let height = number(text.dropLast()) { return (free, height) }
    default:
      let sides = text.split(separator: "x", maxSplits: 1, omittingEmptySubsequences: false)
      switch (number(sides[0]), sides.count == 1 ? nil : number(sides[1])) {
      case (let width?, let height?): return (width, height)
      case (let side?, nil) where sides.count == 1: return (side, side)
      case (let width?, nil) where sides[1].isEmpty: return (width, free)
      case (nil, let height?) where sides[0].isEmpty: return (free, height)
      default: break
      }
    }
    throw fault
  }

  private static var fault: ValidationError {
    ValidationError("give a size such as 256, 200x100, 200x, 64@2x or 200x100@2x")
  }

  /// True if only one side was given.
  var hasFreeSide: Bool { box.width != box.height && max(box.width, box.height) == ThumbnailSpec.freeSide / scale }

  /// Parses sizes that are separated by commas: `64,128`, `64,64@2x`.
  static func list(_ text: String) throws -> [SizeOption] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map {
      try SizeOption(String($0).trimmingWhitespace())
    }
  }

  private static func scale(_ text: Substring) -> Int? { text.hasSuffix("x") ? number(text.dropLast()) : nil }

  /// Parses ASCII digits only: unlike `Int.init`, rejects a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }
}

extension SizeOption: CustomStringConvertible {
  /// The shortest form: `256`, `200x100@2x`, `200x`.
  var description: String {
    if box.width == box.height { return scale == 1 ? "\(box.width)" : "\(box.width)@\(scale)x" }
    return ThumbnailSpec(width: box.width, height: box.height, scale: scale).label
  }
}

/// The options of decoders in separate processes.
struct DecoderOptions: ParsableArguments {
  @Option(
    help: """
      Formats to decode in separate processes without access to files and the network: those that are not trusted \
      (AVIF, HEIC, JPEG 2000, JPEG XL, PDF, PSD, SVG, TIFF and camera raw files), or all.
      """)
  var isolate = DecoderIsolation.Scope.untrusted

  @Option(
    help: ArgumentHelp(
      "Maximum time to decode an image in a separate process, and to encode AVIF. (default: 10s)",
      discussion: "After it, the row fails as decode_limit.", valueName: "time"),
    transform: { try Count.seconds($0) })
  var decodeTimeout = Duration.seconds(10)

  @Option(
    help: ArgumentHelp(
      "Page of PDF documents and TIFF files. Those with fewer pages fail as no_page. (default: 1)",
      valueName: "number"),
    transform: { try Count.positive($0) })
  var page = 1

  @Flag(
    help: """
      Decode even if this system cannot keep the separate processes from files and the network. \
      For images that you trust; thumbs doctor shows the protections.
      """)
  var unsafeDecoders = false

  /// Starts the encoder once if `pixels` need it, which takes 40 ms. Throws if all thumbnails would fail without it,
  /// before anything is downloaded.
  func checkEncoder(for pixels: PixelOptions) throws {
    guard pixels.format == .avif else { return }
    if let fault = DecoderCondition(measuring: isolation).encodingFault(isolation) {
      throw ValidationError("AVIF output needs the program thumbs-decode, but \(fault).")
    }
  }

  /// The settings of a pipeline.
  var isolation: DecoderIsolation {
    var isolation = DecoderIsolation()
    isolation.scope = isolate
    isolation.timeout = decodeTimeout
    isolation.allowsUnprotected = unsafeDecoders
    return isolation
  }
}
