import ImageCache
import Testing

@Suite struct `Thumbnails against an independent implementation` {
  /// Their colors are far more saturated than they say.
  private static let wide = ["adobe-rgb.jpg", "adobe-rgb-split.jpg", "profile.png"]

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
    // What is wrong at the edges alone hardly shows in the mean of all.
    #expect(ours.largestEdgeError(to: reference) <= 3.2, "\(ours.largestEdgeError(to: reference))")
    // Colors are converted once they are few, by the reference before: that costs saturated ones some decibels.
    let floor = Self.wide.contains(name) ? 42.0 : 45
    #expect(ours.peakSignal(to: reference) >= floor, "\(ours.peakSignal(to: reference)) dB")
    let expected = Fixtures.flaws[name]
    #expect(rendering.warnings.isEmpty == (expected == nil), "\(rendering.warnings)")
    if let expected { #expect(rendering.warnings.contains { $0.contains(expected) }, "\(rendering.warnings)") }
  }

  @Test(arguments: Fixtures.names.filter { $0.hasSuffix(".jpg") }, [100, 89])
  func `lose no more as JPEG files than the reference does`(name: String, quality: Int) throws {
    let spec = ThumbnailSpec(width: 48, format: .jpeg, quality: quality)
    let ours = try Pixels(Renderer().render(Fixtures.picture(name), specs: [spec]).thumbnails[0])
    let reference = try Fixtures.reference(for: name)
    try #require(ours.size == reference.size)
    let inevitable = try Pixels(jpeg: reference.jpeg(quality: quality)).meanError(to: reference)
    let error = ours.meanError(to: reference)
    #expect(zip(error, inevitable).allSatisfy { $0 <= $1 + 2 }, "mean error \(error), \(inevitable) of them inevitable")
    let sound = try Pixels(jpeg: reference.jpeg(quality: quality))
    #expect(ours.largestEdgeError(to: reference) <= sound.largestEdgeError(to: reference) + 5)
    let floor = quality == 100 ? 41 : sound.peakSignal(to: reference) - 1
    #expect(ours.peakSignal(to: reference) >= floor, "\(ours.peakSignal(to: reference)) dB")
  }

  @Test func `cover every fixture there is`() { #expect(Fixtures.names.count == 66) }

  @Test(arguments: [ThumbnailSpec.Filter.cubic, .box, .mitchell])
  func `agree for other filters`(filter: ThumbnailSpec.Filter) throws {
    let spec = ThumbnailSpec(width: 48, format: .png, filter: filter)
    let ours = try Pixels(Renderer().render(Fixtures.picture("scene.png"), specs: [spec]).thumbnails[0])
    let reference = try Fixtures.reference("filter-\(filter.rawValue).png")
    #expect(ours.meanError(to: reference).allSatisfy { $0 <= 1 }, "\(ours.meanError(to: reference))")
  }

  @Test func `agree in linear light`() throws {
    let specs = [ThumbnailSpec.Light.linear, .perceptual].map { ThumbnailSpec(width: 48, format: .png, light: $0) }
    let thumbnails = try Renderer().render(Fixtures.picture("scene.png"), specs: specs).thumbnails
    let reference = try Fixtures.reference("filter-linear.png")
    let (linear, perceptual) = (try Pixels(thumbnails[0]), try Pixels(thumbnails[1]))
    #expect(linear.meanError(to: reference).allSatisfy { $0 <= 0.6 }, "\(linear.meanError(to: reference))")
    #expect(perceptual.meanError(to: reference).contains { $0 > 0.6 })
  }

  /// The same coefficients in other scans, of which the renderer leaves out those that cannot matter.
  @Test(arguments: ["large-shrunk", "large-444", "large-gray"], [48, 90, 180, 700])
  func `of a progressive JPEG are those of the same baseline JPEG`(name: String, width: Int) throws {
    let spec = ThumbnailSpec(width: width, format: .png)
    let baseline = try Renderer().render(Fixtures.picture("\(name).jpg"), specs: [spec])
    let progressive = try Renderer().render(Fixtures.picture("\(name)-progressive.jpg"), specs: [spec])
    #expect(baseline.thumbnails == progressive.thumbnails)
  }
}
