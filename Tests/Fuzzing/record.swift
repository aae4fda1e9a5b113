// Reads arbitrary bytes as records of the cache: as they are, and as the fields and the body of a record whose checksum
// is right. A record that is read and written again must stay the same. The same bytes are read as objects of a remote
// cache: as they are, and with the right tag.

import FoundationEssentials

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  read(UnsafeRawBufferPointer(bytes), body: .empty)
  guard let first = bytes.first, let kind = RecordFrame.Kind(rawValue: 1 + first % 4) else { return 0 }
  let fields = Array(bytes.dropFirst())
  let record = RecordFrame.seal(kind) { $0.add(raw: fields) }
  record.withUnsafeBytes { read($0, body: .empty) }
  readObject(Array(bytes))
  for body in [[], fields] {
    if let object = frame.seal(codec.name(of: key), record: record, body: body) { readObject(object) }
  }
  if let object = frame.seal(codec.name(of: spec, from: digest), record: record, body: fields) { readObject(object) }
  if let object = frame.seal(codec.name(of: key), record: fields) { readObject(object) }
  return 0
}

private let url = "https://img.example/1.jpg"
private let key = SourceKey(url: url)
private let digest = BodyDigest(of: [])
private let spec = ThumbnailSpec(width: 64)
private let frame = RemoteObjectFrame(key: nil)
private let codec = RemoteObjectCodec(secret: nil)

/// Reads what a lookup in a remote cache reads.
private func readObject(_ object: [UInt8]) {
  if let source = codec.source(in: object, key: key, url: url) {
    precondition(source.url == url && source.isShareable, "a source that must not be shared")
    _ = source.policy.sharedState(at: Date(timeIntervalSince1970: 1_790_000_000))
    _ = source.policy.fromSharedCache.mayServeStaleOnError(at: Date(timeIntervalSince1970: 1_790_000_000))
  }
  if let thumbnail = codec.thumbnail(in: object, spec, from: digest) {
    precondition(ThumbnailMark.isPresent(in: thumbnail.bytes), "a file without a mark")
  }
}

private func read(_ record: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
  if let source = SourceRecord(record) { check(source) }
  if let thumbnail = ThumbnailRecord(record, body: body) { precondition(thumbnail.specText.utf8.count <= 512 * 3) }
  if let verdict = VerdictRecord(record) {
    let copy = VerdictRecord.encode(verdict.error, of: verdict.digest, rendererEdition: verdict.rendererEdition)
    precondition(copy.withUnsafeBytes { VerdictRecord($0)?.error.message } == verdict.error.message)
  }
  if let original = OriginalRecord(record) {
    precondition(OriginalRecord.encode(original.digest).elementsEqual(record), "an original changed")
  }
}

/// Reads what a lookup reads: the source, its freshness and the fields of its response.
private func check(_ record: SourceRecord) {
  let policy = record.source.policy
  _ = policy.state(at: Date(timeIntervalSince1970: 1_790_000_000))
  _ = policy.conditionalFields
  // A text with invalid UTF-8 grows when it is read, and may then exceed its limit.
  guard let copy = SourceRecord.encode(record.source, key: record.key, rendererEdition: record.rendererEdition) else {
    return
  }
  precondition(copy.withUnsafeBytes { SourceRecord($0) }?.source == record.source, "a source changed")
}
