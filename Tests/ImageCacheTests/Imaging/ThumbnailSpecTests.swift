import ImageCache
import Testing

@Suite struct `The fingerprint of a spec` {
  private static let base = ThumbnailSpec(width: 256)

  @Test func `A fingerprint is a stable string that includes the renderer's version`() {
    let look = "256x256@1-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline"

    #expect(Self.base.fingerprint == "v\(Renderer.version)-\(look)")
  }

  @Test func `Specs that differ in any property have different fingerprints`() {
    var specs = [Self.base]

    for change: (inout ThumbnailSpec) -> Void in [
      { $0.box.width = 255 }, { $0.box.height = 255 }, { $0.scale = 2 }, { $0.fit = .cover }, { $0.fit = .pad },
      { $0.fit = .stretch }, { $0.enlargement = .allowed }, { $0.format = .png }, { $0.format = .jpeg },
      { $0.format = .webp }, { $0.format = .smallest }, { $0.format = .rgba },
      { $0.quality = 83 }, { $0.background.red = 0 }, { $0.background.green = 0 }, { $0.background.blue = 0 },
      { $0.filter = .mitchell }, { $0.filter = .cubic }, { $0.filter = .box }, { $0.light = .linear },
      { $0.scans = .progressive }, { ($0.fit, $0.gravity) = (.cover, .smart) },
    ] {
      var spec = Self.base
      change(&spec)
      specs.append(spec)
    }

    #expect(Set(specs.map(\.fingerprint)).count == specs.count)
    #expect(Set(specs).count == specs.count)
  }

  @Test func `A gravity is part of the fingerprint if it has an effect and is not the center`() throws {
    let point = try #require(Gravity("33.33%,66.67%"))
    let spec = ThumbnailSpec(
      width: 16384, fit: .cover, enlargement: .allowed, format: .smallest, quality: 100, light: .perceptual,
      scans: .progressive)

    for (gravity, ending) in [(Gravity.center, ""), (.smart, "-smart"), (point, "-33.33%,66.67%")] {
      var cropped = spec
      cropped.gravity = gravity
      #expect(cropped.fingerprint == spec.fingerprint + ending && cropped.fingerprint.count < 100)
      #expect(ThumbnailSpec(fingerprint: cropped.fingerprint) == cropped)
      #expect((cropped == spec) == (gravity == .center))

      var padded = cropped
      padded.fit = .pad
      #expect(padded == ThumbnailSpec(fingerprint: padded.fingerprint) && padded.fingerprint.hasSuffix("-progressive"))
    }
  }

  @Test(arguments: ["-center", "-", "-top", "-smart-smart", "-101%,5%", "-0%,0%,0%"])
  func `A text with an impossible gravity is no fingerprint`(ending: String) {
    let cover = ThumbnailSpec(width: 256, fit: .cover)

    #expect(ThumbnailSpec(fingerprint: cover.fingerprint + "-north") != nil)
    #expect(ThumbnailSpec(fingerprint: cover.fingerprint + ending) == nil)
    #expect(ThumbnailSpec(fingerprint: Self.base.fingerprint + "-north") == nil)
  }
}
