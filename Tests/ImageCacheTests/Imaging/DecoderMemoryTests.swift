import Foundation
import Glibc
import TestSupport
import Testing

@testable import ImageCache

/// The memory that a process gets for one image after another.
@Suite(.decoderLibraries) struct DecoderMemoryTests {
  private static let page = sysconf(Int32(_SC_PAGESIZE))
  private static let large = 17 << 20

  @Test func `Each image gets the same memory, without the end of the one before`() throws {
    var memory = DecoderMemory()
    let first = try memory.holding([UInt8](repeating: 1, count: Self.page + 9).span)
    let second = try memory.holding([2, 2].span)

    #expect(second.descriptor == first.descriptor)
    #expect(second.copied(0..<Self.page) == [2, 2] + [UInt8](repeating: 0, count: Self.page - 2))
  }

  @Test func `A process can read its image, but not change it`() throws {
    var memory = DecoderMemory()
    for image: [UInt8] in [[1, 2, 3], [4, 5, 6]] {
      let file = try memory.holding(image.span).descriptor
      var (byte, content) = (UInt8(7), [UInt8](repeating: 0, count: 3))

      #expect(pwrite(file, &byte, 1, 0) == -1 && errno == EPERM)
      #expect(mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED)
      #expect(pread(file, &content, 3, 0) == 3 && content == image)
    }
  }

  @Test func `The memory for pixels is the same, and zero`() throws {
    var memory = DecoderMemory()
    let first = try memory.zeros(3 * Self.page)
    memset(first.start, 1, first.count)
    let second = try memory.zeros(Self.page + 1)

    #expect(second.descriptor == first.descriptor)
    #expect(second.copied(0..<2 * Self.page).allSatisfy { $0 == 0 })
  }

  @Test func `A large image has separate memory`() throws {
    var memory = DecoderMemory()
    let bytes = [UInt8](repeating: 1, count: Self.large)
    let (input, output) = (try memory.holding(bytes.span), try memory.zeros(Self.large))

    #expect(input.copied(0..<bytes.count) == bytes && output.count == Self.large)
    #expect(try memory.holding(bytes.span).descriptor != input.descriptor)
    #expect(try memory.zeros(Self.large).descriptor != output.descriptor)
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    .enabled(if: DecoderCondition(measuring: DecoderIsolation()).formats.contains(.svg)))
  func `A process gives back what a large image has left`() throws {
    let renderer = Renderer(isolation: .patient)
    let shapes = String(repeating: "<g id='a'></g>", count: 200_000)
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\(shapes)</svg>"
    func memory() throws -> Int {
      _ = try renderer.render(Array(drawing.utf8), specs: [ThumbnailSpec(width: 9)])
      let state = try renderer.caches.decoders.images.withProcess { process throws(DecoderFailure) in
        try? String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
      }
      let line = try #require(state?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
      return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    // In KiB. The tree of the drawing takes 280 MiB.
    #expect(try memory() < 100 << 10)
  }
}
