import BareLoop
import Foundation
import ImageCache

/// `bench-pixels bare|ours SIDE[,SIDE...] OUT FILE...`: makes thumbnails of every file on one thread, and writes the
/// first of each file to the folder OUT unless that is `-`. With `FORMAT=png` in the environment, `ours` writes PNG for
/// the comparison of pixels. For `ours`, the last SIDE may be `placeholder`.
@main
enum BenchPixels {
  static func main() throws {
    let arguments = CommandLine.arguments
    let sides = arguments[2].split(separator: ",").compactMap { Int($0) }
    let format = ThumbnailSpec.Format(rawValue: ProcessInfo.processInfo.environment["FORMAT"] ?? "auto") ?? .auto
    var specs = sides.map { ThumbnailSpec(width: $0, format: format) }
    if arguments[2].hasSuffix(",placeholder") { specs.append(.placeholder) }
    let renderer = Renderer()
    for file in arguments.dropFirst(4) {
      let bytes = try [UInt8](Data(contentsOf: URL(filePath: file)))
      let thumbnail =
        try arguments[1] == "bare"
        ? bare(bytes, side: sides[0]) : renderer.render(bytes, specs: specs).thumbnails[0].bytes
      if arguments[3] != "-" {
        let name = URL(filePath: file).deletingPathExtension().lastPathComponent
        try Data(thumbnail).write(to: URL(filePath: "\(arguments[3])/\(name).\(thumbnail[0] == 0x89 ? "png" : "jpg")"))
      }
    }
  }

  private static func bare(_ bytes: [UInt8], side: Int) -> [UInt8] {
    var thumbnail: UnsafeMutablePointer<UInt8>?
    let count = (bytes[0] == 0x89 ? bare_png : bare_jpeg)(bytes, bytes.count, UInt32(side), &thumbnail)
    defer { free(thumbnail) }
    return Array(UnsafeBufferPointer(start: thumbnail, count: count))
  }
}
