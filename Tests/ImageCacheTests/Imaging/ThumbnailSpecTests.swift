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
      { $0.scans = .progressive },
    ] {
      var spec = Self.base
      change(&spec)
      specs.append(spec)
    }

    #expect(Set(specs.map(\.fingerprint)).count == specs.count)
    #expect(Set(specs).count == specs.count)
  }
}
