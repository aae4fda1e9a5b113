import ArgumentParser
import ImageCache
import Testing

@testable import thumbs

@Suite struct OptionValueTests {
  @Test(
    arguments: [
      ("256", 256, 256, 1), ("200x100", 200, 100, 1), ("64@2x", 64, 64, 2), ("200x100@3x", 200, 100, 3),
      ("16384", 16384, 16384, 1), ("1x16384", 1, 16384, 1), ("2048@8x", 2048, 2048, 8), ("200x", 200, 16383, 1),
      ("x100", 16383, 100, 1), ("200x@2x", 200, 8191, 2), ("x1@8x", 2047, 1, 8),
    ])
  func `A size is parsed and printed in its shortest form`(text: String, width: Int, height: Int, scale: Int) throws {
    let size = try SizeOption(text)

    #expect(size == SizeOption(box: PixelSize(width: width, height: height), scale: scale))
    #expect(size.description == text)
  }

  @Test(
    arguments: [
      "", "x", "w", "h", "64w@", "6w4", "x64w", "64x@0x", "xx64", "64@", "64@x", "64@2", "-64", "+64", "64@0x", "64@9x",
      "64x64x64", "64 ", "16385",
      "8193@2x",
      "0x4", "１２", "99999999999999999999",
    ])
  func `An invalid size is rejected`(text: String) {
    #expect(throws: ValidationError.self) { try SizeOption(text) }
  }

  @Test(arguments: [("200w", "200x"), ("100h", "x100"), ("200w@2x", "200x@2x")])
  func `One side may be named by its letter`(text: String, same: String) throws {
    #expect(try SizeOption(text) == SizeOption(same))
    #expect(try SizeOption(text).hasFreeSide)
  }

  @Test(arguments: ["JPEG", "Jpg", "jpg", "jpeg"]) func `A format is read in any case`(text: String) {
    #expect(ThumbnailSpec.Format(argument: text) == .jpeg)
  }

  @Test(
    arguments: [
      ("32MiB", 32 << 20), ("2GiB", 2 << 30), ("500k", 500_000), ("1.5kib", 1536), ("4096B", 4096), ("0", 0),
      ("10B", 10), ("2G", 2_000_000_000),
    ])
  func `A number of bytes is parsed with its unit`(text: String, count: Int) throws {
    #expect(try ByteSize(text).count == count)
  }

  @Test(arguments: ["", "k", "-1", "1x", "1.5.5k", ".5k", "5.k", "1e3", "9999999999GiB", "0x10", "1 k"])
  func `An invalid number of bytes is rejected`(text: String) {
    #expect(throws: ValidationError.self) { try ByteSize(text) }
  }

  @Test(arguments: ["500", "4096", "1000000"]) func `A size without a unit is refused with the likely ones`(
    text: String
  ) {
    let error = #expect(throws: ValidationError.self) { try ByteSize(text) }
    #expect(error?.message == "\(text) without a unit would be bytes; give \(text)MiB, for example, or \(text)B")
  }

  @Test(arguments: [
    ("90s", 90.0), ("90", 90), ("1.5", 1.5), ("5m", 300), ("5min", 300), ("1h", 3600), ("1.5H", 5400), ("250ms", 0.25),
    ("1d", 86_400),
  ])
  func `A time has a unit, or is a number of seconds`(text: String, seconds: Double) throws {
    #expect(try Count.seconds(text) == .seconds(seconds))
  }

  @Test(arguments: ["", "s", "5x", "-5s", "5 m", "1e3", "0x10", "inf", "nan", "2d", "0", "5s5", "1h30m"])
  func `Any other time is refused`(text: String) {
    #expect(throws: ValidationError.self) { try Count.seconds(text) }
  }

  @Test(arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2 << 30, "2 GiB")])
  func `Bytes are shown in powers of 1024`(count: Int, text: String) {
    #expect(ByteSize(count: count).description == text)
  }

  @Test(arguments: [("100M", 100_000_000), ("640k", 640_000), ("2.5g", 2_500_000_000), ("17", 17)])
  func `A number of pixels is parsed, and printed so that it parses again`(text: String, count: Int) throws {
    #expect(try PixelCount(text).count == count)
    #expect(try PixelCount(PixelCount(count: count).description).count == count)
  }

  @Test(arguments: ["0", "", "M", "-5", "5T"])
  func `An invalid number of pixels is rejected`(text: String) {
    #expect(throws: ValidationError.self) { try PixelCount(text) }
  }

  @Test(arguments: [("smart", "smart"), ("NorthWest", "northwest"), (" 30%,70% ", "30%,70%"), ("50% 50%", "center")])
  func `A place of a crop is parsed in any case`(text: String, description: String) throws {
    #expect(try Gravity(parsing: text).description == description)
  }

  @Test(arguments: ["", "top", "30,70", "101%,0%"])
  func `An invalid place of a crop is rejected`(text: String) {
    #expect(throws: ValidationError.self) { try Gravity(parsing: text) }
  }

  @Test func `A header field has a name and a value`() throws {
    #expect(try HeaderOption("Referer: http://a/:b ") == HeaderOption(name: "Referer", value: "http://a/:b"))
    #expect(try HeaderOption("X-Empty:") == HeaderOption(name: "X-Empty", value: ""))
  }

  @Test(arguments: ["no colon", ": value", "a b: c", "é: x", "a: b\r\nc: d", "a: \u{0}"])
  func `An invalid header field is rejected`(text: String) {
    #expect(throws: ValidationError.self) { try HeaderOption(text) }
  }
}
