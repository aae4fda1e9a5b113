/// The header of a JPEG file.
struct JPEGHeader: Sendable {
  /// The properties that every format has.
  var image: ImageHeader
  /// True for a file with several scans, progressive or one component at a time: the decoder holds all coefficients
  /// until the last scan is read.
  var keepsCoefficients = false
  /// True for CMYK and YCCK, which are decoded as RGB.
  var isCMYK = false
  /// The ratio of the chroma spacings in the two directions: 1 for 4:4:4 and 4:2:0, 2 for 4:2:2.
  var chromaStretch = 1
  /// The number of samples of all components per pixel: 3 for 4:4:4, 1.5 for 4:2:0.
  var samplesPerPixel = 3.0
  /// The location of the ICC profile in the file.
  var profile = JPEGProfile()

  /// The size of all coefficients in bytes: two bytes each, and one for each sample.
  var coefficientBytes: Int { Int(Double(image.storedSize.area) * samplesPerPixel * 2) }
}

/// Walks the segments of a JPEG file up to its first scan (ITU-T T.81, annex B).
struct JPEGHeaderReader {
  let limits: DecodingLimits

  /// Reads the header. Returns nil if `bytes` end before the first scan begins.
  func read(_ bytes: Span<UInt8>) throws(ImageError) -> JPEGHeader? {
    var header = JPEGHeader(
      image: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 0, height: 0), layout: .rgb))
    var hasFrame = false
    var offset = 2
    for _ in 0..<DecodingLimits.maxSegments {
      guard let mark = marker(in: bytes, from: offset) else {
        if bytes.count - offset > maxFill { break }
        return nil
      }
      let code = bytes[mark + 1]
      if isAlone(code) {
        offset = mark + 2
        continue
      }
      if code == 0xD9 { throw ImageError(.decodeError, "The JPEG file ends without image data.") }
      guard let length = bytes.uint16(at: mark + 2) else { return nil }
      guard length >= 2 else { throw ImageError(.decodeError, "A segment of the JPEG file has an invalid length.") }
      let end = mark + 2 + length
      if code == 0xDA {
        guard hasFrame else { throw ImageError(.decodeError, "The JPEG file has image data without a frame header.") }
        guard mark + 4 < bytes.count else { return nil }
        let components = header.isCMYK ? 4 : header.image.layout.channels
        header.keepsCoefficients = header.keepsCoefficients || bytes[mark + 4] < components
        return header
      }
      guard end <= bytes.count else { return nil }
      let content = bytes.extracting(mark + 4..<end)
      if isFrame(code) {
        try readFrame(content, code, into: &header)
        hasFrame = true
      } else {
        readApplication(code, content, at: mark + 4, into: &header)
      }
      offset = end
    }
    throw ImageError(.decodeLimit, "The JPEG file has too many segments before its image data.")
  }

  /// The maximum number of fill bytes between two segments. Real files have none, or a few for alignment.
  private let maxFill = 4096

  /// Returns the offset of the next 0xFF that begins a marker.
  private func marker(in bytes: Span<UInt8>, from offset: Int) -> Int? {
    var index = offset
    let limit = min(bytes.count - 1, offset + maxFill)
    while index < limit {
      if bytes[index] == 0xFF, bytes[index + 1] != 0xFF, bytes[index + 1] != 0 { return index }
      index += 1
    }
    return nil
  }

  /// Returns true for the markers without a segment: TEM, RST0 to RST7, SOI.
  private func isAlone(_ code: UInt8) -> Bool { code == 0x01 || (0xD0...0xD8).contains(code) }

  /// Returns true for SOF0 to SOF15, except the three codes in that range with another meaning (DHT, JPG, DAC), and for
  /// SOF55 of JPEG-LS.
  private func isFrame(_ code: UInt8) -> Bool {
    (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC || code == 0xF7
  }

  private func readFrame(_ frame: Span<UInt8>, _ code: UInt8, into header: inout JPEGHeader) throws(ImageError) {
    guard let height = frame.uint16(at: 1), let width = frame.uint16(at: 3), frame.count >= 6 else {
      throw ImageError(.decodeError, "The JPEG file's frame header is too short.")
    }
    try refuseVariants(code, precision: frame[0])
    header.image.storedSize = PixelSize(width: width, height: height)
    try limits.check(header.image.storedSize)
    switch frame[5] {
    case 1: header.image.layout = .gray
    case 3: header.image.layout = .rgb
    case 4: header.isCMYK = true
    default: throw ImageError(.unsupportedFormat, "JPEG with \(frame[5]) components is not supported.")
    }
    header.keepsCoefficients = code == 0xC2 || code == 0xCA
    header.chromaStretch = chromaStretch(frame)
    header.samplesPerPixel = samplesPerPixel(frame)
  }

  /// Computes ``JPEGHeader/samplesPerPixel`` from the sampling factors of all components. Each pair takes one byte:
  /// horizontal in the high bits, vertical in the low bits.
  private func samplesPerPixel(_ frame: Span<UInt8>) -> Double {
    let count = Int(frame[5])
    guard frame.count >= 6 + 3 * count else { return Double(count) }
    let factors = (0..<count).map { frame[7 + 3 * $0] }
    let largest = Int(factors.map { $0 >> 4 }.max() ?? 0) * Int(factors.map { $0 & 15 }.max() ?? 0)
    let all = factors.reduce(0) { $0 + Int($1 >> 4) * Int($1 & 15) }
    return largest > 0 ? Double(all) / Double(largest) : Double(count)
  }

  /// Computes ``JPEGHeader/chromaStretch`` from the sampling factors of the first two components.
  private func chromaStretch(_ frame: Span<UInt8>) -> Int {
    guard frame.count >= 12 else { return 1 }
    let (first, second) = (frame[7], frame[10])
    let across = Int(first >> 4) * Int(second & 15)
    let down = Int(first & 15) * Int(second >> 4)
    guard min(across, down) > 0 else { return 1 }
    return max(across, down) / min(across, down)
  }

  private func refuseVariants(_ code: UInt8, precision: UInt8) throws(ImageError) {
    switch code {
    case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA: break
    case 0xC3, 0xCB: throw ImageError(.unsupportedFormat, "Lossless JPEG is not supported.")
    case 0xF7: throw ImageError(.unsupportedFormat, "JPEG-LS is not supported.")
    default: throw ImageError(.unsupportedFormat, "Hierarchical JPEG is not supported.")
    }
    guard precision == 8 else {
      throw ImageError(.unsupportedFormat, "JPEG with \(precision) bits per sample is not supported.")
    }
  }

  private func readApplication(_ code: UInt8, _ content: Span<UInt8>, at offset: Int, into header: inout JPEGHeader) {
    if code == 0xE1, content.has("Exif\0\0", at: 0) {
      header.image.readOrientation(exif: content.extracting(6...))
    } else if code == 0xE2, content.has("ICC_PROFILE\0", at: 0), content.count > 14 {
      header.profile.add(Int(content[12]), of: Int(content[13]), at: offset + 14..<offset + content.count)
    }
  }
}

/// The parts of an ICC profile in the APP2 segments of a JPEG file (ICC.1:2010, annex B.4).
struct JPEGProfile: Sendable {
  private var parts: [Int: Range<Int>] = [:]
  private var declaredCount = 0

  var isEmpty: Bool { parts.isEmpty }

  /// Records one part: its number, which starts at 1, the declared number of parts, and its byte range in the file.
  mutating func add(_ number: Int, of count: Int, at range: Range<Int>) {
    parts[number] = range
    declaredCount = count
  }

  /// Returns the whole profile, read from the file it was found in; nil if parts are missing or it is too large.
  func assembled(from file: Span<UInt8>) -> [UInt8]? {
    guard declaredCount > 0, parts.count == declaredCount else { return nil }
    var profile: [UInt8] = []
    for number in 1...declaredCount {
      guard let range = parts[number], profile.count + range.count <= DecodingLimits.maxProfileBytes else { return nil }
      file.extracting(range).withUnsafeBufferPointer { profile += $0 }
    }
    return profile
  }
}
