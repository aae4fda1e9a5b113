import ImageCache
import Testing

@Suite struct `Thumbnails against an independent implementation` {
  @Test(arguments: Fixtures.names)
  func `differ by at most two levels a channel in the mean`(name: String) throws {
    let spec = ThumbnailSpec(width: 48, format: .png)
    let rendering = try Renderer().render(Fixtures.picture(name), specs: [spec])
    let ours = try Pixels(rendering.thumbnails[0])
    let reference = try Fixtures.reference(for: name)
    #expect(ours.size == reference.size)
    try #require(ours.size == reference.size)
    let error = ours.meanError(to: reference)
    #expect(error.allSatisfy { $0 <= 2 }, "mean error \(error)")
    #expect(rendering.warnings.isEmpty, "\(rendering.warnings)")
  }

  @Test func `cover every fixture there is`() { #expect(Fixtures.names.count == 36) }
}
