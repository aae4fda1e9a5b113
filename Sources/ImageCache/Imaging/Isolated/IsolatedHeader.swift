import CDecodeChannel

/// The header that a process of `thumbs-decode` declares, checked: none of its numbers is believed.
struct IsolatedHeader: Sendable {
  let size: PixelSize
  let layout: PixelLayout
  let orientation: Orientation
  /// The bytes of the ICC profile; 0 without a profile.
  let profileCount: Int
  /// The colors of an image without a profile; nil if it declares none.
  let encoding: ColorEncoding?
  /// True if the image can be drawn at any size.
  let isVector: Bool
  /// Harmless oddities.
  let warnings: [String]

  /// Throws for numbers that no decoder sends. The size is checked by ``DecodingLimits``.
  init(_ reply: DecodeReply) throws(DecoderFailure) {
    let header = reply.header
    size = PixelSize(width: Int(header.width), height: Int(header.height))
    guard let layout = Self.layouts[header.channels], let orientation = Orientation(rawValue: Int(header.orientation)),
      header.profileCount <= DecodingLimits.maxProfileBytes, header.isVector <= 1
    else { throw .misbehavior("it sent numbers that make no sense") }
    (self.layout, self.orientation) = (layout, orientation)
    profileCount = Int(header.profileCount)
    encoding = ColorEncoding(primaries: header.primaries, transfer: header.transfer)
    isVector = header.isVector == 1
    warnings = reply.text.warningLines
  }

  private static let layouts: [UInt32: PixelLayout] = [1: .gray, 2: .grayAlpha, 3: .rgb, 4: .rgba]
}
