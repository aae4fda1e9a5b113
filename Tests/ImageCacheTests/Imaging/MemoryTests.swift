import CImage
import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The memory of decoding` {
  @Test func `is granted while there is room, then in the order of asking`() {
    var budget = MemoryBudget(limit: 10)
    #expect(budget.request(6) == nil)
    let large = budget.request(5)
    // There would be room, but not past someone who waits longer.
    let small = budget.request(1)
    let called = budget.release(6)
    #expect(large != nil && small != nil && called == [large, small])
    #expect(budget.release(5) == [])
    #expect(budget.release(1) == [])
    #expect(budget.request(10) == nil)
  }

  @Test func `is granted alone to what needs more than there is`() {
    var budget = MemoryBudget(limit: 10)
    #expect(budget.request(500) == nil)
    let next = budget.request(1)
    let called = budget.release(500)
    #expect(next != nil && called == [next])
  }

  @Test func `never exceeds its limit over all threads`() {
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

  @Test func `is given back when a picture fails`() throws {
    let renderer = Renderer(maxMemory: 1)
    let broken = Array(SampleImage.png(width: 20, height: 20).prefix(80))
    for _ in 0..<2 {
      #expect(throws: ImageError.self) { try renderer.render(broken, specs: [ThumbnailSpec(width: 8)]) }
    }
    #expect(
      try renderer.render(SampleImage.png(width: 20, height: 20), specs: [ThumbnailSpec(width: 8)]).thumbnails.count
        == 1)
  }

  @Test func `that does not exist is an error`() {
    let (side, layout) = (1 << 30, PixelLayout.rgba)
    let error = #expect(throws: ImageError.self) {
      _ = try Bitmap(size: PixelSize(width: side, height: side), layout: layout)
    }
    #expect(error?.code == .outOfMemory)
    let encoding = #expect(throws: ImageError.self) { try CImageCall.encode(capacity: .max) { _, _, _ in .OK } }
    #expect(encoding?.code == .outOfMemory)
  }

  @Test func `counts pixels, shrunk, and the coefficients of files in several scans`() {
    var header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1000, height: 800), layout: .rgb)
    #expect(DecodingCost(header: header, shrink: 1, canvases: []).bytes == 2_400_000)
    #expect(DecodingCost(header: header, shrink: 4, canvases: []).bytes == 150_000)
    header.keepsCoefficients = true
    #expect(DecodingCost(header: header, shrink: 4, canvases: []).bytes == 4_950_000)
  }

  @Test(arguments: [(3, false), (1, true)])
  func `A baseline file whose first scan leaves components out is one in several scans`(
    components: UInt8, expected: Bool
  ) throws {
    var bytes = SampleImage.jpeg(width: 64, height: 64)
    let scan = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    #expect(bytes[scan + 4] == 3)
    bytes[scan + 4] = components
    #expect(try ImageHeader.read(bytes.span, maxPixels: .max)?.keepsCoefficients == expected)
  }
}
