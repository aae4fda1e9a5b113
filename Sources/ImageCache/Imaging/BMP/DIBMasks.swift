/// The bits of each channel in a pixel. A channel without bits is 0, and alpha without bits means opaque pixels.
struct DIBMasks: Hashable, Sendable {
  var red, green, blue: UInt32
  var alpha: UInt32 = 0

  static let none = DIBMasks(red: 0, green: 0, blue: 0)

  /// The masks of a bitmap that does not define any.
  static func standard(bitCount: Int) -> DIBMasks {
    switch bitCount {
    case 16: DIBMasks(red: 0x7C00, green: 0x3E0, blue: 0x1F)
    case 24, 32: DIBMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF)
    default: none
    }
  }

  private var all: [UInt32] { [red, green, blue, alpha] }

  /// True if the bits of each channel are contiguous, and no two channels share a bit.
  var areValid: Bool {
    var used: UInt32 = 0
    for mask in all {
      let bits = mask >> (mask == 0 ? 0 : mask.trailingZeroBitCount)
      guard bits & (bits &+ 1) == 0, used & mask == 0 else { return false }
      used |= mask
    }
    return true
  }

  /// Returns the masks without the bits that pixels of `bitCount` bits do not have.
  func limited(to bitCount: Int) -> DIBMasks {
    let bits: UInt32 = bitCount < 32 ? 1 << UInt32(bitCount) - 1 : .max
    return DIBMasks(red: red & bits, green: green & bits, blue: blue & bits, alpha: alpha & bits)
  }
}

/// Extracts one channel of a pixel as 8 bits.
struct DIBChannel: Sendable {
  private let shift: UInt32
  private let limit: UInt32
  private let values: [UInt8]

  /// Creates a channel with these contiguous bits. `missing` is its value if there are none. Of more than 8 bits, the
  /// lowest are dropped; fewer bits are scaled to 0...255 and rounded to the nearest value.
  init(_ mask: UInt32, missing: UInt8 = 0) {
    let count = mask.nonzeroBitCount
    shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount + max(0, count - 8))
    let limit: UInt32 = 1 << UInt32(min(8, count)) - 1
    self.limit = limit
    values = (0...limit).map { limit == 0 ? missing : UInt8(($0 * 510 + limit) / (2 * limit)) }
  }

  @inline(__always)
  func value(_ pixel: UInt32) -> UInt8 { values[Int(pixel >> shift & limit)] }
}
