import CImage
import Foundation
import TestSupport

@testable import ImageCache

/// Measures the memory that rendering takes in this process, in which nothing else may run.
enum MemoryProbe {
  /// Returns a file of 12 megapixels.
  static func file(_ kind: String) throws -> [UInt8] {
    switch kind {
    case "large.jpg": SampleImage.jpeg(width: 4000, height: 3000)
    case "large.png": SampleImage.png(width: 4000, height: 3000)
    case "progressive.jpg": try progressive()
    default: throw CocoaError(.fileNoSuchFile)
    }
  }

  private static func progressive() throws -> [UInt8] {
    let bitmap = try Bitmap(size: PixelSize(width: 4000, height: 3000), layout: .rgb)
    for index in 0..<4000 * 3000 * 3 { bitmap.planes[0].samples[index] = UInt8(truncatingIfNeeded: index / 7) }
    return try JPEGEncoder(ThumbnailSpec(width: 1, scans: .progressive)).encode(bitmap)
  }

  /// Renders a file. Returns the number of bytes that it requests, and the number by which resident memory rose.
  static func measure(_ bytes: [UInt8], _ specs: [ThumbnailSpec]) throws -> (cost: Int, peak: Int) {
    let renderer = Renderer()
    // Fills the caches and makes the allocator allocate its own structures.
    _ = try renderer.render(SampleImage.jpeg(width: 64, height: 64), specs: specs)
    var file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 100_000_000), decoders: .missing)
    let plan = RenderPlan(file.decoder, specs: specs)
    file.decoder.adapt(to: plan.demand)
    // Sets the peak to the present value (proc(5), clear_refs).
    try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    let before = try status("VmRSS")
    _ = try renderer.render(bytes, specs: specs)
    return (file.decoder.peakBytes + plan.peakBytes(file.decoder), try status("VmHWM") - before)
  }

  /// Returns a number of bytes from the status of this process.
  private static func status(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(name + ":") }),
      let kibibytes = Int(line.split(separator: " ").dropFirst().first ?? "")
    else { throw CocoaError(.fileReadCorruptFile) }
    return kibibytes * 1024
  }
}
