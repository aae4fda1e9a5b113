import CImage
import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The memory of decoding` {
  @Test func `Memory is granted while there is room, and then in the order of the requests`() {
    var budget = MemoryBudget(limit: 10)
    #expect(budget.request(6) == nil)
    let large = budget.request(5)
    // There is room for one byte, but the large request has waited longer.
    let small = budget.request(1)

    let granted = budget.release(6)

    #expect(large != nil && small != nil && granted == [large, small])
    #expect(budget.release(5) == [])
    #expect(budget.release(1) == [])
    #expect(budget.request(10) == nil)
  }

  @Test func `A request above the limit is granted all memory and runs alone`() {
    var budget = MemoryBudget(limit: 10)
    #expect(budget.request(500) == nil)
    let next = budget.request(1)

    let granted = budget.release(500)

    #expect(next != nil && granted == [next])
  }

  @Test func `All threads together never hold more than the limit`() {
    let (gate, meter) = (MemoryGate(limit: 3), LoadMeter())

    DispatchQueue.concurrentPerform(iterations: 400) { _ in
      gate.enter(1)
      meter.enter()
      meter.leave()
      gate.leave(1)
    }

    #expect(meter.peak <= 3)
    gate.enter(3)
    gate.leave(3)
  }

  @Test func `A small request does not wait for a large one`() {
    let gate = MemoryGate(limit: 64 << 20)
    gate.enter(1 << 30)

    for _ in 0..<4 { gate.enter(8 << 20) }
    for _ in 0..<4 { gate.leave(8 << 20) }

    gate.leave(1 << 30)
    gate.enter(64 << 20)
    gate.leave(64 << 20)
  }

  @Test func `An image that fails gives back its memory`() throws {
    let renderer = Renderer(maxMemory: 1)
    let broken = Array(SampleImage.png(width: 20, height: 20).prefix(80))

    for _ in 0..<2 {
      #expect(throws: ImageError.self) { try renderer.render(broken, specs: [ThumbnailSpec(width: 8)]) }
    }

    #expect(
      try renderer.render(SampleImage.png(width: 20, height: 20), specs: [ThumbnailSpec(width: 8)]).thumbnails.count
        == 1)
  }

  @Test func `A failed allocation is an error`() {
    let (side, layout) = (1 << 30, PixelLayout.rgba)

    let error = #expect(throws: ImageError.self) {
      _ = try Bitmap(size: PixelSize(width: side, height: side), layout: layout)
    }
    #expect(error?.code == .outOfMemory)

    let encoding = #expect(throws: ImageError.self) { try CImageCall.encode(capacity: .max) { _, _, _ in .OK } }
    #expect(encoding?.code == .outOfMemory)
  }

  @Test func `A JPEG takes memory for some of its shrunk rows, and for its coefficients if it has several scans`() {
    var jpeg = JPEGHeader(
      image: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1000, height: 800), layout: .rgb))
    #expect(JPEGDecoder(jpeg).peakBytes == 1000 * 3 * 64)

    let demand = DecodingDemand(targets: [.init(reduction: 8)], form: .pixels)
    var decoder = JPEGDecoder(jpeg)
    decoder.adapt(to: demand)
    #expect(decoder.decodedSize == PixelSize(width: 250, height: 200) && decoder.peakBytes == 250 * 3 * 64)

    jpeg.keepsCoefficients = true
    decoder = JPEGDecoder(jpeg)
    decoder.adapt(to: demand)
    #expect(decoder.peakBytes == 250 * 3 * 64 + 1000 * 800 * 3 / 64 * (64 * 2 + 8))
  }

  @Test(arguments: [("rgb-444.jpg", 3.0), ("rgb-420.jpg", 1.5), ("rgb-422.jpg", 2.0), ("gray.jpg", 1), ("cmyk.jpg", 4)])
  func `A JPEG has as many coefficients as samples`(name: String, samples: Double) throws {
    let file = try Fixtures.image(name)
    let decoder = try #require(try JPEGDecoder(prefix: file.span, limits: DecodingLimits(maxPixels: .max)))
    #expect(decoder.jpeg.samplesPerPixel == samples)
  }

  /// The child process reports its peak of memory, which the tests that run at the same time would disturb.
  @Test(.disabled(if: Sanitizer.isOn), arguments: ["large.jpg", "progressive.jpg", "large.png"])
  func `A rendering takes no more memory than it requests, and at least a third of it`(name: String) async throws {
    await #expect(processExitsWith: .success) { [kind = name as String] in
      let file = try MemoryProbe.file(kind)
      let specs = [ThumbnailSpec(width: 256), ThumbnailSpec(width: 100, height: 50, fit: .cover)]
      let (cost, peak) = try MemoryProbe.measure(file, specs)
      print("\(kind): \(cost) bytes requested, \(peak) used")
      #expect(peak <= cost + (1 << 20))
      #expect(cost <= 3 * peak + (1 << 20))
    }
  }

  @Test(arguments: [(3, false), (1, true)])
  func `A baseline file whose first scan omits components has several scans`(
    components: UInt8, expected: Bool
  ) throws {
    var bytes = SampleImage.jpeg(width: 64, height: 64)
    let scan = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    #expect(bytes[scan + 4] == 3)

    bytes[scan + 4] = components

    let decoder = try JPEGDecoder(prefix: bytes.span, limits: DecodingLimits(maxPixels: .max))
    #expect(decoder?.jpeg.keepsCoefficients == expected)
  }
}
