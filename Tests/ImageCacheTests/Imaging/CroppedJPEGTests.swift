import CImage
import Testing

@testable import ImageCache

@Suite struct `Decoding a part of a JPEG file` {
  private static let names = Fixtures.names.filter { $0.hasSuffix(".jpg") && !["cut", "truncated"].contains($0) }

  /// Decodes a file as a whole or in part, shrunk by a factor.
  private func decoded(
    _ file: [UInt8], _ form: DecodingDemand.Form, shrink: Int, part: CImageArea? = nil
  ) throws -> WholeImage {
    var image = try ImageFile(file.span, limits: DecodingLimits(maxPixels: 10_000_000), decoders: .missing)
    image.decoder.adapt(to: DecodingDemand(targets: [.init(reduction: Double(2 * shrink), chromaStep: 2)], form: form))
    let whole = WholeImage(part: part)
    var warnings: [String] = []
    try image.decode(file.span, colors: ColorTransformCache(), into: whole, warnings: &warnings)
    return whole
  }

  @Test(arguments: names, [DecodingDemand.Form.pixels, .planes])
  func `It has the samples of the whole image`(name: String, form: DecodingDemand.Form) throws {
    let file = try Fixtures.image(name)
    for shrink in [1, 2, 4, 8] {
      let whole = try decoded(file, form, shrink: shrink)
      let size = whole.size
      let parts = [
        (0, 0, 9, 7), (13, 17, 6, 5), (13, 8, 78, 53), (3, 30, 200, 3), (size.width - 1, 0, 1, 400),
      ]
      for (left, top, width, height) in parts {
        let part = CImageArea(
          left: Int32(left), top: Int32(top), right: Int32(left + width), bottom: Int32(top + height))
        let image = try decoded(file, form, shrink: shrink, part: part)
        for plane in whole.shape.planes.indices {
          let area = image.needed(ofPlane: plane)
          #expect(
            image.samples(ofPlane: plane, in: area) == whole.samples(ofPlane: plane, in: area),
            "\(part) of plane \(plane), shrunk by \(shrink)")
        }
      }
    }
  }

  @Test func `Rows that are not needed are omitted`() throws {
    let part = CImageArea(left: 0, top: 100, right: 10, bottom: 110)
    for form in [DecodingDemand.Form.pixels, .planes] {
      let image = try decoded(Fixtures.image("large-shrunk.jpg"), form, shrink: 1, part: part)
      #expect(image.samples[0].prefix(50 * image.size.width).allSatisfy { $0 == 0 })
    }
  }

  @Test func `Damage in a part that is not needed is found`() throws {
    let file = try Fixtures.image("large-shrunk.jpg")
    for (start, code) in [(file.count / 8, ImageError.Code.decodeError), (file.count * 7 / 8, .truncated)] {
      let damaged = code == .truncated ? Array(file[..<start]) : Array(file[..<start]) + [0xFF, 0xD9] + file[start...]
      for top in [Int32(0), 20, 390] {
        let part = CImageArea(left: 0, top: top, right: 5, bottom: top + 2)
        let error = #expect(throws: ImageError.self) { try decoded(damaged, .pixels, shrink: 1, part: part) }
        #expect(error?.code == code || error?.code == .truncated)
      }
    }
  }
}
