import ArgumentParser
import ImageCache

/// How thumbnails look.
struct PixelOptions: ParsableArguments {
  @Option(
    name: .customLong("size"),
    help: ArgumentHelp(
      "Box of a thumbnail: 256, 200x100, 64@2x. Repeat for several sizes. (default: 256)",
      discussion: "Each side is 1 to 16384 pixels; @2x doubles both.", valueName: "size"),
    transform: { try SizeOption($0) })
  var sizes: [SizeOption] = []

  @Option(help: "How a picture meets its box; cover cuts, pad fills, stretch distorts.")
  var fit = ThumbnailSpec.Fit.inside

  @Flag(help: "Let pictures smaller than the box grow to it.")
  var enlarge = false

  @Option(help: "Format of the files; auto keeps the format of the source.")
  var format = ThumbnailSpec.Format.auto

  @Option(
    help: ArgumentHelp("JPEG quality, 1 to 100. (default: 82)", valueName: "number"),
    transform: { try PixelOptions.quality($0) })
  var quality = 82

  @Option(
    help: ArgumentHelp(
      "Colour behind transparent pictures in JPEG, and of padding there. (default: ffffff)", valueName: "rrggbb"),
    transform: { try PixelOptions.color($0) })
  var background = ThumbnailSpec.Color.white

  @Option(help: "How pixels are weighed when scaling; lanczos3 is the sharpest, box the plain mean.")
  var filter = ThumbnailSpec.Filter.lanczos3

  @Flag(help: "Scale in linear light: fine bright detail keeps its brightness; several times slower.")
  var linear = false

  @Flag(help: "Write progressive JPEG.")
  var progressive = false

  /// Refuses what would fail for every image.
  func validate() throws {
    do throws(ImageError) {
      try Renderer().check(specs)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// One spec a distinct size, in the order of the command line.
  var specs: [ThumbnailSpec] {
    specs(of: sizes.isEmpty ? [SizeOption(box: PixelSize(width: 256, height: 256), scale: 1)] : sizes)
  }

  /// One spec for each distinct one of `sizes`, in their order, with the other options of the command line.
  func specs(of sizes: [SizeOption]) -> [ThumbnailSpec] {
    var specs: [ThumbnailSpec] = []
    for size in sizes {
      let spec = spec(size)
      if !specs.contains(spec) { specs.append(spec) }
    }
    return specs
  }

  private func spec(_ size: SizeOption) -> ThumbnailSpec {
    ThumbnailSpec(
      width: size.box.width, height: size.box.height, scale: size.scale, fit: fit,
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
    guard let color = ThumbnailSpec.Color(text) else {
      throw ValidationError("give six hexadecimal digits, such as ffffff for white")
    }
    return color
  }
}
