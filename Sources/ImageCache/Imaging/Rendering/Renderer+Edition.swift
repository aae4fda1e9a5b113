extension Renderer {
  /// A number that differs between builds that may judge the same file differently: it depends on ``version`` and on
  /// the formats that this build decodes. A file that failed with another edition may succeed with this one.
  static let edition = version << 16 | formatsHash(formats.map(\.rawValue))

  /// The formats that this build decodes if it has the program for some of them.
  private static let formats = SourceFormat.inProcess + IsolatedFormat.all.map(\.format)

  /// Returns a hash of 16 bits of the names of formats, the same in every process: FNV-1a, folded.
  static func formatsHash(_ names: [String]) -> Int {
    let hash = names.sorted().joined(separator: ",").utf8.reduce(0x811C_9DC5 as UInt32) { hash, byte in
      (hash ^ UInt32(byte)) &* 0x0100_0193
    }
    return Int(hash >> 16 ^ hash & 0xFFFF)
  }
}
