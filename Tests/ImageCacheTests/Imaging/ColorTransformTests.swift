import CImage
import Dispatch
import Testing

@testable import ImageCache

@Suite struct `Color profiles` {
  private static let specs = [ThumbnailSpec(width: 48)]

  /// Returns the profile of a JPEG fixture.
  static func profile(of name: String) throws -> [UInt8] {
    let bytes = try Fixtures.image(name)
    let decoder = try #require(try JPEGDecoder(prefix: bytes.span, limits: DecodingLimits(maxPixels: .max)))
    let profile = decoder.jpeg.profile.assembled(from: bytes.span)
    return try #require(profile)
  }

  /// Returns profiles that convert colors identically but differ in reserved bytes.
  private static func variants(of profile: [UInt8], count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      var variant = profile
      // Bytes 100 to 127 of the header are reserved (ICC.1:2010, 7.2).
      (variant[100], variant[101]) = (UInt8(number & 255), UInt8(number >> 8))
      return variant
    }
  }

  @Test(
    arguments: [
      "adobe-rgb.jpg", "srgb-profile.jpg", "gray-profile.jpg", "cmyk-profile.jpg", "profile.png", "adobe-rgb-split.jpg",
    ])
  func `A profile is examined once for all images that have it`(name: String) throws {
    let renderer = Renderer()

    let first = try renderer.render(Fixtures.image(name), specs: Self.specs)
    #expect(renderer.caches.transforms.makeCount == 1)

    let second = try renderer.render(Fixtures.image(name), specs: Self.specs)
    #expect(renderer.caches.transforms.makeCount == 1)
    #expect(first.thumbnails == second.thumbnails)
  }

  @Test func `Each profile has a separate transform per color model`() throws {
    let (cache, profile) = (ColorTransformCache(), try Self.profile(of: "adobe-rgb.jpg"))
    var warnings: [String] = []

    for _ in 0..<2 {
      for bytes in [profile] + Self.variants(of: profile, count: 2).dropFirst() {
        #expect(try cache.transform(of: .profile(bytes), model: .RGB, warnings: &warnings) != nil)
        #expect(try cache.transform(of: .profile(bytes), model: .RGBA, warnings: &warnings) != nil)
      }
    }

    #expect(cache.makeCount == 4 && cache.count == 4 && warnings.isEmpty)
  }

  @Test(arguments: [("srgb-profile.jpg", [CImageColorModel.RGB, .RGBA]), ("gray-profile.jpg", [])])
  func `Only a profile that differs from sRGB and fits the color model gives a transform`(
    name: String, models: [CImageColorModel]
  ) throws {
    var warnings: [String] = []
    let profile = try Self.profile(of: name)

    for model in [CImageColorModel.RGB, .RGBA, .gray, .grayAlpha] {
      let transform = try ColorTransformCache().transform(of: .profile(profile), model: model, warnings: &warnings)
      let fits = (model == .RGB || model == .RGBA) == (name == "srgb-profile.jpg")
      #expect((transform == nil) == (!fits || models.contains(model)), "\(model)")
    }
  }

  @Test func `A malformed profile causes a warning every time`() throws {
    let cache = ColorTransformCache()

    for _ in 0..<2 {
      var warnings: [String] = []
      #expect(try cache.transform(of: .profile(Array("nonsense".utf8)), model: .RGB, warnings: &warnings) == nil)
      #expect(warnings.count == 1)
    }

    #expect(cache.makeCount == 1)
  }

  @Test func `Many profiles take bounded memory and do not evict one in use`() throws {
    let (cache, used) = (ColorTransformCache(), try Self.profile(of: "adobe-rgb.jpg"))
    var warnings: [String] = []

    for variant in Self.variants(of: used, count: 300).dropFirst() {
      _ = try cache.transform(of: .profile(used), model: .RGB, warnings: &warnings)
      _ = try cache.transform(of: .profile(variant), model: .RGB, warnings: &warnings)
    }

    #expect(cache.makeCount == 300 && cache.count == 24)
  }

  @Test func `Large profiles take bounded memory`() throws {
    let (cache, profile) = (ColorTransformCache(), try Self.profile(of: "adobe-rgb.jpg"))
    var warnings: [String] = []

    for variant in Self.variants(of: profile, count: 12) {
      let padded = variant + Array(repeating: 0, count: 3 << 20)
      _ = try cache.transform(of: .profile(padded), model: .RGB, warnings: &warnings)
    }

    #expect(cache.makeCount == 12 && cache.count == 5)
  }

  @Test func `A profile of inks applies to CMYK images without one, and to no other image`() throws {
    let inks = try InkProfile(Self.profile(of: "cmyk-profile.jpg"))
    let (renderer, plain) = (Renderer(inks: inks), Renderer())
    func bytes(_ name: String, _ renderer: Renderer) throws -> [UInt8] {
      try renderer.render(Fixtures.image(name), specs: Self.specs).thumbnails[0].bytes
    }

    // Both files contain the same inks. The one with a profile is compared with LittleCMS elsewhere.
    #expect(try bytes("cmyk.jpg", renderer) == bytes("cmyk-profile.jpg", plain))
    #expect(try bytes("cmyk.jpg", renderer) != bytes("cmyk.jpg", plain))
    #expect(try bytes("cmyk-profile.jpg", renderer) == bytes("cmyk-profile.jpg", plain))
    #expect(try bytes("adobe-rgb.jpg", renderer) == bytes("adobe-rgb.jpg", plain))
    #expect(try bytes("gray-profile.jpg", renderer) == bytes("gray-profile.jpg", plain))
  }

  @Test func `A profile of anything but CMYK is refused as a profile of inks`() throws {
    let profiles = try [[], Array("nonsense".utf8), Self.profile(of: "adobe-rgb.jpg")]
    for profile in profiles {
      let error = #expect(throws: ImageError.self) { try InkProfile(profile) }
      #expect(error?.code == .badSpec)
    }
  }

  @Test func `Many threads can share the transforms of one renderer`() throws {
    let names = ["adobe-rgb.jpg", "srgb-profile.jpg", "gray-profile.jpg", "cmyk-profile.jpg", "profile.png"]
    let files = try names.map { try Fixtures.image($0) }
    let expected = try files.map { try Renderer().render($0, specs: Self.specs).thumbnails }
    let renderer = Renderer()

    DispatchQueue.concurrentPerform(iterations: 100) { number in
      let index = number % files.count
      let rendering = try? renderer.render(files[index], specs: Self.specs)
      #expect(rendering?.thumbnails == expected[index])
    }

    #expect(renderer.caches.transforms.count == files.count)
  }
}

@Suite struct `The least-recently-used table` {
  @Test func `A full table drops the least recently used value`() {
    var table = RecentTable<Int, String>(largestCount: 3, largestCost: 100)
    for key in 1...3 { #expect(table.insert("\(key)", for: key, cost: 1) == []) }

    #expect(table.value(for: 1) == "1")
    #expect(table.insert("4", for: 4, cost: 1) == ["2"])
    #expect(table.insert("5", for: 5, cost: 1) == ["3"])

    #expect(table.value(for: 2) == nil && table.value(for: 1) == "1" && table.count == 3)
  }

  @Test func `The total cost of a table stays within its limit`() {
    var table = RecentTable<Int, String>(largestCount: 10, largestCost: 10)
    for key in 1...3 { _ = table.insert("\(key)", for: key, cost: 3) }

    #expect(table.insert("4", for: 4, cost: 5) == ["1", "2"])
    #expect(table.insert("5", for: 5, cost: 11) == ["5"])
    #expect(table.count == 2)
  }

  @Test func `A new value for a key replaces the old one and its cost`() {
    var table = RecentTable<Int, String>(largestCount: 10, largestCost: 10)

    for number in 1...5 { #expect(table.insert("\(number)", for: 1, cost: 9) == (number > 1 ? ["\(number - 1)"] : [])) }
    #expect(table.insert("a", for: 2, cost: 1) == [] && table.count == 2)
  }
}
