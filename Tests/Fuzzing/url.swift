/// Reads the bytes as a URL and as a reference. A canonical URL must stay as it is, and the quick way to recognize one
/// must agree with the parser.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzURL(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  let text = String(decoding: bytes, as: UTF8.self)
  check(try? SourceURL(text))
  if CanonicalURL(text) != nil, let read = try? SourceURL(text) {
    precondition((try? SourceURL(parsing: text)) == read, "The parser reads it differently.")
  }
  guard let base = try? SourceURL("https://h.example:81/a/b?c") else { return 0 }
  check(try? SourceURL(bytes, relativeTo: base))
  return 0
}

private func check(_ url: SourceURL?) {
  guard let url, url.scheme != .file else { return }
  // The keys of objects in buckets are written as they are.
  let isBucket = url.scheme == .s3 || url.scheme == .gs
  let isASCII = url.description.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  precondition(isBucket || isASCII, "The URL is not ASCII.")
  guard let again = try? SourceURL(url.requestString) else { preconditionFailure("The canonical URL is rejected.") }
  precondition(again == url && again.host == url.host, "The canonical URL is not canonical.")
}
