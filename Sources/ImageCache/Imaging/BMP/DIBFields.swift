/// The fields of the header of a device-independent bitmap, whatever its version. Those that the version does not have
/// are 0.
struct DIBFields {
  /// The lengths of all versions of the header: those of Windows, and those of OS/2, which may end after any field.
  static let lengths: [Int] = [12, 42, 46, 108, 124] + stride(from: 16, through: 64, by: 4)

  private let bytes: [UInt8]

  /// Reads the header at `start`. Returns nil if `file` ends before the header. Throws `decodeError` if no version has
  /// its length.
  init?(_ file: Span<UInt8>, at start: Int) throws(ImageError) {
    guard let length = file.uint32(at: start, .little) else { return nil }
    guard Self.lengths.contains(length) else {
      throw ImageError(.decodeError, "The bitmap's header has an invalid length (\(length)).")
    }
    guard start + length <= file.count else { return nil }
    bytes = (start..<start + length).map { file[$0] }
  }

  var length: Int { bytes.count }
  /// True for the first version, whose fields have 16 bits.
  var isCore: Bool { length == 12 }
  /// True for the versions of OS/2, which number their ways of compression differently.
  var isOS2: Bool { ![40, 52, 56, 108, 124].contains(length) }

  var width: Int { isCore ? uint16(4) : signed(4) }
  /// Negative if the first row is at the top.
  var height: Int { isCore ? uint16(6) : signed(8) }
  var bitCount: Int { uint16(isCore ? 10 : 14) }
  var compression: Int { uint32(16) }
  /// The number of colors in the palette; 0 if there are as many as the bits allow.
  var colorCount: Int { uint32(32) }
  /// The four masks, if the version has them.
  var masks: DIBMasks? {
    guard !isOS2, length >= 52 else { return nil }
    return DIBMasks(red: mask(40), green: mask(44), blue: mask(48), alpha: mask(52))
  }
  /// The location of the embedded ICC profile from the start of the header; nil if there is none.
  var profile: Range<Int>? {
    // "MBED", as an integer.
    guard length == 124, uint32(56) == 0x4D42_4544 else { return nil }
    return uint32(112)..<uint32(112) + uint32(116)
  }

  private func uint16(_ offset: Int) -> Int { bytes.span.uint16(at: offset, .little) ?? 0 }
  private func uint32(_ offset: Int) -> Int { bytes.span.uint32(at: offset, .little) ?? 0 }
  private func mask(_ offset: Int) -> UInt32 { UInt32(uint32(offset)) }
  private func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: uint32(offset))) }
}
