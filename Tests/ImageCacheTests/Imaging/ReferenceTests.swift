import ImageCache
import Testing

@Suite struct `Thumbnails against an independent implementation` {
  /// Images with wide-gamut profiles, whose colors are much more saturated after conversion to sRGB.
  private static let wide = ["adobe-rgb.jpg", "adobe-rgb-split.jpg", "profile.png"]

  @Test(arguments: Fixtures.names)
  func `A thumbnail differs from the reference by at most two levels per channel on average`(name: String) throws {
    let spec = ThumbnailSpec(width: 48, format: .png)

    let rendering = try Renderer().render(Fixtures.image(name), specs: [spec])

    let ours = try DecodedPixels(rendering.thumbnails[0])
    let reference = try Fixtures.reference(for: name)
    #expect(ours.size == reference.size)
    try #require(ours.size == reference.size)
    let error = ours.meanError(to: reference)
    #expect(error.allSatisfy { $0 <= 2 }, "mean error \(error)")
    // An error only at the edges hardly affects the mean of all pixels.
    #expect(ours.largestEdgeError(to: reference) <= 3.2, "\(ours.largestEdgeError(to: reference))")
    // We convert colors after scaling, the reference before, which costs saturated colors a few decibels.
    let floor = Self.wide.contains(name) ? 42.0 : 45
    #expect(ours.peakSignal(to: reference) >= floor, "\(ours.peakSignal(to: reference)) dB")
    let expected = Fixtures.flaws[name]
    #expect(rendering.warnings.isEmpty == (expected == nil), "\(rendering.warnings)")
    if let expected { #expect(rendering.warnings.contains { $0.contains(expected) }, "\(rendering.warnings)") }
  }

  @Test(arguments: Fixtures.names.filter { $0.hasSuffix(".jpg") }, [100, 89])
  func `JPEG encoding costs a thumbnail no more quality than the reference`(name: String, quality: Int) throws {
    let spec = ThumbnailSpec(width: 48, format: .jpeg, quality: quality)

    let ours = try DecodedPixels(Renderer().render(Fixtures.image(name), specs: [spec]).thumbnails[0])

    let reference = try Fixtures.reference(for: name)
    try #require(ours.size == reference.size)
    let inevitable = try DecodedPixels(file: reference.jpeg(quality: quality)).meanError(to: reference)
    let error = ours.meanError(to: reference)
    #expect(zip(error, inevitable).allSatisfy { $0 <= $1 + 2 }, "mean error \(error), \(inevitable) of them inevitable")
    let sound = try DecodedPixels(file: reference.jpeg(quality: quality))
    #expect(ours.largestEdgeError(to: reference) <= sound.largestEdgeError(to: reference) + 5)
    let floor = quality == 100 ? 41 : sound.peakSignal(to: reference) - 1
    #expect(ours.peakSignal(to: reference) >= floor, "\(ours.peakSignal(to: reference)) dB")
  }

  @Test func `The comparisons cover all 68 fixtures`() { #expect(Fixtures.names.count == 68) }

  @Test(arguments: [ThumbnailSpec.Filter.cubic, .box, .mitchell])
  func `A thumbnail made with another filter agrees with the reference`(filter: ThumbnailSpec.Filter) throws {
    let spec = ThumbnailSpec(width: 48, format: .png, filter: filter)

    let ours = try DecodedPixels(Renderer().render(Fixtures.image("scene.png"), specs: [spec]).thumbnails[0])

    let reference = try Fixtures.reference("filter-\(filter.rawValue).png")
    #expect(ours.meanError(to: reference).allSatisfy { $0 <= 1 }, "\(ours.meanError(to: reference))")
  }

  @Test func `A thumbnail made in linear light agrees with the reference`() throws {
    let specs = [ThumbnailSpec.Light.linear, .perceptual].map { ThumbnailSpec(width: 48, format: .png, light: $0) }

    let thumbnails = try Renderer().render(Fixtures.image("scene.png"), specs: specs).thumbnails

    let reference = try Fixtures.reference("filter-linear.png")
    let (linear, perceptual) = (try DecodedPixels(thumbnails[0]), try DecodedPixels(thumbnails[1]))
    #expect(linear.meanError(to: reference).allSatisfy { $0 <= 0.6 }, "\(linear.meanError(to: reference))")
    #expect(perceptual.meanError(to: reference).contains { $0 > 0.6 })
  }

  /// Both files have the same coefficients, but the decoder skips the progressive scans that do not affect the output.
  @Test(arguments: ["large-shrunk", "large-444", "large-gray"], [48, 90, 180, 700])
  func `A progressive JPEG gives the same thumbnails as the same baseline JPEG`(name: String, width: Int) throws {
    let spec = ThumbnailSpec(width: width, format: .png)

    let baseline = try Renderer().render(Fixtures.image("\(name).jpg"), specs: [spec])
    let progressive = try Renderer().render(Fixtures.image("\(name)-progressive.jpg"), specs: [spec])

    #expect(baseline.thumbnails == progressive.thumbnails)
  }
}
