extension String {
  /// Returns the text in an array of C characters, which Swift imports as a tuple, up to its NUL or its end.
  static func text(inArray characters: some BitwiseCopyable) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
