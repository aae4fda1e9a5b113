/// Divides the bytes into the tags and texts of a web page and of an XML document.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzPage(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  for language in [MarkupTokenizer.Language.html, .xml] {
    var tokenizer = MarkupTokenizer(bytes, language)
    var count = 0
    while let token = tokenizer.next() {
      count += 1
      precondition(count <= 3 * size, "A token has no bytes.")
      if case .tag(let tag) = token { check(tag, language) }
    }
  }
  return 0
}

private func check(_ tag: MarkupTokenizer.Tag, _ language: MarkupTokenizer.Language) {
  let signs = " \t\n\u{C}\r/>"
  precondition(!tag.name.unicodeScalars.contains { signs.unicodeScalars.contains($0) }, "The name has a sign.")
  guard language == .html else { return }
  precondition(!tag.name.isEmpty, "A tag has no name.")
  precondition(!tag.name.utf8.contains { (0x41...0x5A).contains($0) }, "The name is not in lower case.")
}
