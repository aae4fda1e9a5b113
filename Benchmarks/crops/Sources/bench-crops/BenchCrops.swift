import Foundation
import ImageCache

/// `bench-crops crops SIDE OUT FILE...` writes the smart square of each file and the whole image at the same scale,
/// as `NAME-smart.png` and `NAME-whole.png`.
///
/// `bench-crops times SIDE ROUNDS FILE...` prints the CPU time of a smart crop, that of the center, and their ratio:
/// for squares, and for boxes two pixels shorter than the whole image, so that both scale the same pixels. A time is
/// the mean over the files of the shortest of the rounds, in which the kinds alternate.
@main
enum BenchCrops {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 4, let side = Int(arguments[2]) else { fatalError("See the comment in the source.") }
    let files = try arguments.dropFirst(4).map { ($0, try [UInt8](Data(contentsOf: URL(filePath: $0)))) }
    if arguments[1] == "crops" {
      for (path, bytes) in files { try writeCrops(path, bytes, side: side, to: arguments[3]) }
    } else {
      try printTimes(files.map(\.1), side: side, rounds: Int(arguments[3]) ?? 9)
    }
  }

  private static func writeCrops(_ path: String, _ bytes: [UInt8], side: Int, to folder: String) throws {
    let whole = try wholeSize(bytes, side: side)
    let specs = [
      ThumbnailSpec(width: side, fit: .cover, gravity: .smart, format: .png),
      ThumbnailSpec(width: whole.width, height: whole.height, fit: .stretch, format: .png),
    ]
    let name = URL(filePath: path).deletingPathExtension().lastPathComponent
    for (thumbnail, kind) in zip(try Renderer().render(bytes, specs: specs).thumbnails, ["smart", "whole"]) {
      try Data(thumbnail.bytes).write(to: URL(filePath: "\(folder)/\(name)-\(kind).png"))
    }
  }

  /// Returns the size of the whole image at the scale at which it covers a square.
  private static func wholeSize(_ bytes: [UInt8], side: Int) throws -> PixelSize {
    guard let source = try Renderer().judge(prefix: bytes.span)?.size else { fatalError("A file has no header.") }
    let shorter = min(source.width, source.height)
    let (width, height) = (source.width * side * 2 + shorter, source.height * side * 2 + shorter)
    return PixelSize(width: width / (2 * shorter), height: height / (2 * shorter))
  }

  private static func printTimes(_ files: [[UInt8]], side: Int, rounds: Int) throws {
    let squares = try times(files, rounds: rounds) { _ in PixelSize(width: side, height: side) }
    let whole = try times(files, rounds: rounds) { bytes in
      let size = try wholeSize(bytes, side: side)
      let isWide = size.width > size.height
      return PixelSize(width: size.width - (isWide ? 2 : 0), height: size.height - (isWide ? 0 : 2))
    }
    for (title, times) in [("square", squares), ("same pixels scaled", whole)] {
      let (smart, center) = (times[0] / Double(files.count), times[1] / Double(files.count))
      print("  \(title): \(smart.rounded(2)) ms, \(center.rounded(2)) ms, \((smart / center).rounded(3))")
    }
  }

  /// Returns the milliseconds of the smart and the center crop to boxes of these sizes.
  private static func times(
    _ files: [[UInt8]], rounds: Int, box: ([UInt8]) throws -> PixelSize
  ) throws -> [Double] {
    let renderer = Renderer()
    var sums = [0.0, 0.0]
    for bytes in files {
      let box = try box(bytes)
      var best = [Double.infinity, .infinity]
      for _ in 0..<rounds {
        for (place, gravity) in [Gravity.smart, .center].enumerated() {
          let spec = ThumbnailSpec(width: box.width, height: box.height, fit: .cover, gravity: gravity)
          let start = clock()
          _ = try renderer.render(bytes, specs: [spec])
          best[place] = min(best[place], Double(clock() - start) * 1000 / Double(CLOCKS_PER_SEC))
        }
      }
      for place in sums.indices { sums[place] += best[place] }
    }
    return sums
  }
}

extension Double {
  fileprivate func rounded(_ digits: Int) -> Double {
    let power = [1.0, 10, 100, 1000][digits]
    return (self * power).rounded() / power
  }
}
