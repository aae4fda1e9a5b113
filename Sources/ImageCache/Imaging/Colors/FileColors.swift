internal import Glibc

/// The colors of the pixels in a thumbnail's file. All but sRGB are declared in the file.
enum FileColors: Hashable, Sendable {
  case sRGB
  case displayP3
  /// Those of an ICC profile for RGB.
  case profile([UInt8])

  /// The ICC profile; nil for sRGB.
  var profile: [UInt8]? {
    switch self {
    case .sRGB: nil
    case .displayP3: DisplayP3.profile
    case .profile(let bytes): bytes
    }
  }

  /// The color primaries of ITU-T H.273, for files that declare them so.
  var primaries: UInt32 { self == .displayP3 ? 12 : 1 }
}

/// The color space of recent displays: the primaries of SMPTE EG 432-1, with the white and the curve of sRGB.
enum DisplayP3 {
  /// The rows give the linear red, green and blue of Display P3 from those of sRGB.
  private static let matrix: [SIMD3<Double>] = [[0.8225, 0.1775, 0], [0.0332, 0.9668, 0], [0.0171, 0.0724, 0.9105]]

  /// Returns the same color in this color space.
  static func color(_ color: ThumbnailSpec.Color) -> ThumbnailSpec.Color {
    let light = SIMD3([color.red, color.green, color.blue].map { Self.light(Double($0) / 255) })
    let samples = matrix.map { row in UInt8((sample((row * light).sum()) * 255).rounded()) }
    return ThumbnailSpec.Color(red: samples[0], green: samples[1], blue: samples[2])
  }

  private static func light(_ sample: Double) -> Double {
    sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
  }

  private static func sample(_ light: Double) -> Double {
    min(1, light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
  }

  /// A profile of about 500 bytes (ICC.1:2010): the white and the primaries adapted to D50, and one curve for all.
  static let profile: [UInt8] = {
    let parts: [(names: [String], bytes: [UInt8])] = [
      (["desc"], text("Display P3")), (["cprt"], text("No copyright")),
      (["wtpt"], numbers("XYZ ", [0.9642, 1, 0.8249])),
      (["rXYZ"], numbers("XYZ ", [0.5151187, 0.2411892, -0.0010505])),
      (["gXYZ"], numbers("XYZ ", [0.2919778, 0.6922441, 0.0418791])),
      (["bXYZ"], numbers("XYZ ", [0.1571035, 0.0665668, 0.7840713])),
      // A parametric curve of type 3 (section 10.15).
      (
        ["rTRC", "gTRC", "bTRC"],
        numbers("para", [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045], after: [0, 3, 0, 0])
      ),
      (["chad"], numbers("sf32", [1.0478, 0.0229, -0.0501, 0.0295, 0.9905, -0.0171, -0.0092, 0.0151, 0.7517])),
    ]
    let tagCount = parts.reduce(0) { $0 + $1.names.count }
    var (table, data) = (bigEndian(tagCount), [UInt8]())
    for part in parts {
      let offset = 128 + 4 + 12 * tagCount + data.count
      for name in part.names { table += Array(name.utf8) + bigEndian(offset) + bigEndian(part.bytes.count) }
      data += part.bytes
    }
    return header(count: 128 + table.count + data.count) + table + data
  }()

  private static func header(count: Int) -> [UInt8] {
    var header = bigEndian(count) + zeros(4)
    header += [4, 0x20, 0, 0] + Array("mntrRGB XYZ ".utf8)
    for part in [2026, 1, 1, 0, 0, 0] { header += bigEndian(part).suffix(2) }
    header += Array("acsp".utf8) + zeros(28)
    // The white of the space in which profiles are connected.
    header += [0.9642, 1, 0.8249].flatMap(fixed)
    return header + zeros(48)
  }

  /// A text in English (section 10.13), padded to four bytes.
  private static func text(_ text: String) -> [UInt8] {
    var bytes = Array("mluc".utf8) + zeros(4) + bigEndian(1) + bigEndian(12)
    bytes += Array("enUS".utf8) + bigEndian(2 * text.utf8.count) + bigEndian(28)
    for letter in text.utf8 { bytes += [0, letter] }
    return bytes + zeros((4 - bytes.count % 4) % 4)
  }

  /// A type with numbers, which may follow other bytes.
  private static func numbers(_ type: String, _ values: [Double], after bytes: [UInt8] = []) -> [UInt8] {
    Array(type.utf8) + zeros(4) + bytes + values.flatMap(fixed)
  }

  /// A number with 16 bits after the point.
  private static func fixed(_ value: Double) -> [UInt8] { bigEndian(Int((value * 65536).rounded())) }

  private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
