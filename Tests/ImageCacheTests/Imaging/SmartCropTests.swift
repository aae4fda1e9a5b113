import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The smart crop` {
  /// A disc on a gray background, in an image of 240 by 160 or 160 by 240 pixels.
  struct Scene: CustomTestStringConvertible {
    enum Subject: CaseIterable {
      case texture, skin, darkSkin, red, blue
    }

    enum Background: CaseIterable {
      case plain, noisy
    }

    var subject: Subject
    var background: Background
    /// The middle of the disc as a part of the longer side.
    var place: Double
    var testDescription: String { "\(subject) on \(background) at \(place)" }

    static let all = Subject.allCases.flatMap { subject in
      Background.allCases.flatMap { background in
        [0.1, 0.3, 0.55, 0.72, 0.9].map { Scene(subject: subject, background: background, place: $0) }
      }
    }

    /// Returns the files of the scene in all orientations.
    func files(_ kind: OrientedImage.Kind, isTall: Bool) throws -> [(orientation: Orientation, file: [UInt8])] {
      let size = isTall ? PixelSize(width: 160, height: 240) : PixelSize(width: 240, height: 160)
      let colors = (0..<size.area).map { index in
        let (x, y) = (index % size.width, index / size.width)
        let (along, aside) = isTall ? (y, x) : (x, y)
        let (dx, dy) = (Double(along) - 240 * place, Double(aside) - 60)
        if dx * dx + dy * dy < 20 * 20 { return color(along, aside) }
        let gray = UInt8(128 + (background == .noisy ? Self.noise[index] : 0))
        return [gray, gray, gray, 255]
      }
      return try Orientation.allCases.map { orientation in
        (orientation, try OrientedImage.file(kind, orientation, size: size) { x, y in colors[y * size.width + x] })
      }
    }

    private static let noise = {
      var generator = SeededGenerator(seed: 1)
      return (0..<240 * 160).map { _ in Int.random(in: -24...24, using: &generator) }
    }()

    private func color(_ x: Int, _ y: Int) -> [UInt8] {
      switch subject {
      case .texture: (x / 6 + y / 6).isMultiple(of: 2) ? [20, 20, 20, 255] : [236, 236, 236, 255]
      case .skin: [224, 172, 140, 255]
      case .darkSkin: [120, 72, 48, 255]
      case .red: [220, 30, 30, 255]
      case .blue: [30, 60, 220, 255]
      }
    }
  }

  @Test func `The crop of a transparent image is drawn on the background from its first pixel on`() throws {
    let file = try OrientedImage.file(.alphaPNG, .upright, size: PixelSize(width: 240, height: 160)) { x, y in
      [UInt8(x), UInt8(y), 40, x < 120 ? 255 : 128]
    }
    let specs = [ThumbnailSpec.Format.png, .jpeg].map {
      ThumbnailSpec(width: 80, fit: .cover, gravity: .smart, format: $0, quality: 95)
    }
    let geometry = FittedGeometry(source: PixelSize(width: 240, height: 160), spec: specs[1])
    try #require(geometry.cropsContent && geometry.origin == (0, 0))

    let (clear, opaque) = try Renderer().render(file, specs: specs).thumbnails.map { try DecodedPixels($0) }.pair

    #expect(clear.size == opaque.size)
    let flat = clear.samples.indices.map { index in
      let (sample, alpha) = (Int(clear.samples[index]), Int(clear.samples[index / 4 * 4 + 3]))
      return index % 4 == 3 ? 255 : (sample * alpha + 255 * (255 - alpha)) / 255
    }
    let differences = zip(flat, opaque.samples).map { abs($0 - Int($1)) }
    #expect(differences.reduce(0, +) < 3 * differences.count)
  }

  /// Returns the smart crop to a square, and the whole image at the same scale.
  private static func rendered(_ file: [UInt8], isTall: Bool, _ format: ThumbnailSpec.Format = .png) throws
    -> [DecodedPixels]
  {
    let whole = isTall ? PixelSize(width: 80, height: 120) : PixelSize(width: 120, height: 80)
    let specs = [
      ThumbnailSpec(width: 80, fit: .cover, gravity: .smart, format: format, quality: 95),
      ThumbnailSpec(width: whole.width, height: whole.height, fit: .stretch, format: format, quality: 95),
    ]
    return try Renderer().render(file, specs: specs).thumbnails.map { try DecodedPixels($0) }
  }

  /// Returns the number of pixels that differ from the background.
  private static func subject(_ pixels: DecodedPixels) -> Int {
    // The background is 128, with noise of up to 24. A loop over a range takes many times longer in a debug build.
    func differs(_ sample: UInt8) -> Bool { sample < 98 || sample > 158 }
    let samples = pixels.samples
    var (count, index) = (0, 0)
    while index < samples.count {
      if differs(samples[index]) || differs(samples[index + 1]) || differs(samples[index + 2]) { count += 1 }
      index += 4
    }
    return count
  }

  @Test(arguments: Scene.all)
  func `The subject is in the crop, which does not depend on the orientation`(scene: Scene) throws {
    for isTall in [false, true] {
      var crops: [DecodedPixels] = []
      for (orientation, file) in try scene.files(.png, isTall: isTall) {
        let rendered = try Self.rendered(file, isTall: isTall)
        let (shown, all) = (Self.subject(rendered[0]), Self.subject(rendered[1]))
        #expect(all > 200 && shown == all, "\(orientation), tall: \(isTall)")
        crops.append(rendered[0])
      }
      for crop in crops { #expect(crop.meanError(to: crops[0]).allSatisfy { $0 < 1 }) }
    }
  }

  @Test(arguments: [0.1, 0.9], [OrientedImage.Kind.jpeg, .grayPNG, .alphaPNG])
  func `Planes, gray and alpha are searched as well`(place: Double, kind: OrientedImage.Kind) throws {
    let scene = Scene(subject: .texture, background: .noisy, place: place)
    for (_, file) in try scene.files(kind, isTall: false) {
      let rendered = try Self.rendered(file, isTall: false, kind == .jpeg ? .jpeg : .png)
      #expect(Double(Self.subject(rendered[0])) > 0.98 * Double(Self.subject(rendered[1])))
    }
  }

  @Test(arguments: OrientedImage.Kind.allCases)
  func `An even image is cropped in the middle`(kind: OrientedImage.Kind) throws {
    let file = try OrientedImage.file(kind, .transposed, size: PixelSize(width: 300, height: 100)) { x, _ in
      [200, UInt8(100 + x / 150), 90, 255]
    }
    let specs = [Gravity.smart, .center].map { ThumbnailSpec(width: 50, fit: .cover, gravity: $0, format: .png) }

    let pixels = try Renderer().render(file, specs: specs).thumbnails.map { try DecodedPixels($0) }

    #expect(pixels[0].meanError(to: pixels[1]).allSatisfy { $0 < 1 })
  }

  @Test func `Transparent pixels attract no attention`() throws {
    let file = try OrientedImage.file(.alphaPNG, .upright, size: PixelSize(width: 300, height: 100)) { x, y in
      let isBusy = (x / 8 + y / 8).isMultiple(of: 2)
      if x < 100 { return isBusy ? [255, 0, 0, 0] : [0, 255, 0, 0] }
      return x < 200 ? [128, 128, 128, 255] : isBusy ? [160, 128, 128, 255] : [96, 128, 128, 255]
    }
    let spec = ThumbnailSpec(width: 100, fit: .cover, gravity: .smart)

    let crop = try DecodedPixels(try #require(try Renderer().render(file, specs: [spec]).thumbnails.first))

    #expect(crop.samples.indices.filter { $0 % 4 == 3 }.allSatisfy { crop.samples[$0] == 255 })
  }

  @Test func `A cell has the mean color of its pixels`() throws {
    let gray = try Bitmap(size: PixelSize(width: 5, height: 3), layout: .gray)
    for (index, sample) in ([0, 255, 10, 30, 9, 255, 0, 10, 31, 9, 7, 7, 7, 7, 7] as [UInt8]).enumerated() {
      gray.planes[0].samples[index] = sample
    }
    let color = try Bitmap(size: PixelSize(width: 300, height: 2), layout: .rgba)
    color.fill([255, 0, 0, 51])

    let (cells, wide) = (try CellColors(gray), try CellColors(color))

    #expect(cells.size == PixelSize(width: 2, height: 1) && cells.luma.map { ($0 * 255).rounded() } == [128, 20])
    #expect(cells.blue == [0, 0] && cells.red == [0, 0] && cells.alpha == [1, 1])
    #expect(wide.size == PixelSize(width: 50, height: 1) && wide.cell == PixelSize(width: 6, height: 2))
    #expect(wide.luma.allSatisfy { abs($0 - 0.299) < 1e-6 } && wide.alpha.allSatisfy { abs($0 - 0.2) < 1e-6 })
    #expect(wide.red.allSatisfy { abs($0 - 0.5) < 1e-6 } && wide.blue.allSatisfy { abs($0 + 0.169) < 1e-3 })
  }

  @Test(arguments: [(1, 1, 1, 9), (2000, 3, 2, 3), (3, 2000, 5, 1), (64, 65, 64, 64), (1, 700, 1, 1), (129, 2, 1, 1)])
  func `Every shape has a crop of the exact size`(width: Int, height: Int, boxWidth: Int, boxHeight: Int) throws {
    for kind in OrientedImage.Kind.allCases {
      let file = try OrientedImage.file(kind, .turnedLeft, size: PixelSize(width: width, height: height)) { x, y in
        [UInt8(x & 255), UInt8(y & 255), 9, UInt8((x + y) & 255)]
      }
      for enlargement in [ThumbnailSpec.Enlargement.never, .allowed] {
        let smart = ThumbnailSpec(
          width: boxWidth, height: boxHeight, fit: .cover, gravity: .smart, enlargement: enlargement)
        var center = smart
        center.gravity = .center
        let sizes = try Renderer().render(file, specs: [smart, center]).thumbnails.map(\.size)
        #expect(sizes[0] == sizes[1])
      }
    }
  }
}

extension [DecodedPixels] {
  fileprivate var pair: (DecodedPixels, DecodedPixels) { (self[0], self[1]) }
}
