import ArgumentParser
import ImageCache

/// The options of the thumbnails' pixels and format.
struct PixelOptions: ParsableArguments {
  @Option(
    name: [.customShort("s", allowingJoined: true), .customLong("size"), .customLong("sizes")],
    help: ArgumentHelp(
      "Thumbnail sizes, such as 256, 200x100 or 64,64@2x. Repeatable. (default: 256)",
      discussion: "A side is 1 to 16384 pixels after scaling; @2x doubles both sides.", valueName: "size"),
    transform: { try SizeOption.list($0) })
  private var sizeLists: [[SizeOption]] = []

  /// The sizes in command-line order; empty if none was given.
  var sizes: [SizeOption] { sizeLists.flatMap(\.self) }

  @Option(
    help: """
      How the image fits the thumbnail size; cover crops, pad (or contain) adds borders, stretch (or fill) distorts.
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
      smaller one of WebP and these; avif needs the program thumbs-decode.
      """)
  var format = ThumbnailSpec.Format.auto

  @Option(
    help: ArgumentHelp("Quality of JPEG, WebP and AVIF, 1 to 100. (default: 82)", valueName: "number"),
    transform: { try PixelOptions.quality($0) })
  var quality = 82

  @Option(
    help: ArgumentHelp(
      "Background color for transparency and padding in JPEG output. (default: ffffff)", valueName: "rrggbb"),
    transform: { try PixelOptions.color($0) })
  var background = ThumbnailSpec.Color.white

  @Option(
    name: [.customLong("kernel"), .customLong("filter")],
    help: "Resampling filter; lanczos3 is the sharpest, box the plain average.")
  var filter = ThumbnailSpec.Filter.lanczos3

  @Flag(help: "Resize in linear light; keeps fine bright detail bright, but is several times slower.")
  var linear = false

  @Flag(help: "Write progressive JPEG.")
  var progressive = false

  @Flag(help: "Report a blurred placeholder (ThumbHash) and the dominant color of each image.")
  var placeholders = false

  /// Rejects specs that would fail for every image.
  func validate() throws {
    do throws(ImageError) {
      try Renderer().check(specs)
    } catch {
      throw ValidationError(error.message)
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
  /// `--placeholders`, the last one is the placeholder.
  var rowSpecs: @Sendable (RowOptions) -> [ThumbnailSpec] {
    { [self, specs] row in
      let isUsual = row.sizes.isEmpty && row.focus == nil
      return (isUsual ? specs : self.specs(of: row.sizes, focus: row.focus)) + (placeholders ? [.placeholder] : [])
    }
  }

  private func spec(_ size: SizeOption, _ gravity: Gravity) -> ThumbnailSpec {
    ThumbnailSpec(
      width: size.box.width, height: size.box.height, scale: size.scale, fit: fit, gravity: gravity,
      enlargement: enlarge ? .allowed : .never, format: format, quality: quality, background: background,
      filter: filter, light: linear ? .linear : .perceptual, scans: progressive ? .progressive : .baseline)
  }

  private static func quality(_ text: String) throws -> Int {
    guard let quality = Int(text), (1...100).contains(quality) else {
      throw ValidationError("give a number from 1 to 100")
    }
    return quality
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
