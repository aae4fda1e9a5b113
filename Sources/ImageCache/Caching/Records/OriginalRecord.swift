/// The record of the file that a source was made from. The body of the record is the file, which its SHA-256 digest
/// verifies; a second checksum over the whole file would take time and prove nothing more.
struct OriginalRecord {
  var digest: BodyDigest

  /// Returns the record of the file of `digest`.
  static func encode(_ digest: BodyDigest) -> [UInt8] {
    RecordFrame.seal(.original) { $0.add(raw: digest.bytes) }
  }

  /// Decodes a record; nil if it is damaged.
  init?(_ record: UnsafeRawBufferPointer) {
    guard var reader = RecordFrame.open(record, .original), let digest = BodyDigest(bytes: [UInt8](reader.raw(32))),
      reader.isComplete
    else { return nil }
    self.digest = digest
  }
}
