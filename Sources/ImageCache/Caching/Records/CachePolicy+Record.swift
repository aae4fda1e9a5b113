// A stored policy keeps what was computed from its header fields, so that a hit parses none of them. A change of these
// computations needs a new version of the record.
extension CachePolicy {
  /// Adds the policy to a record.
  func pack(into writer: inout RecordWriter) {
    writer.add(Int32(truncatingIfNeeded: status))
    for number in [requestedAt, respondedAt, lifetime, initialAge] { writer.add(amount: max(0, number)) }
    writer.add(flags)
    writer.add(amount: control.maxAge)
    writer.add(amount: control.staleIfError)
    writer.add(UInt32(packed.bytes.count))
    writer.add(raw: packed.bytes)
  }

  /// Reads a policy; nil if a required number is missing.
  init?(_ reader: inout RecordReader) {
    status = Int(reader.number(Int32.self))
    guard let requestedAt = reader.amount(), let respondedAt = reader.amount(), let lifetime = reader.amount(),
      let initialAge = reader.amount()
    else { return nil }
    (self.requestedAt, self.respondedAt) = (requestedAt, respondedAt)
    (self.lifetime, self.initialAge) = (lifetime, initialAge)
    let flags = reader.number(UInt8.self)
    var control = CacheControl(nil)
    (control.noStore, control.noCache) = (flags & 1 != 0, flags & 2 != 0)
    control.mustRevalidate = flags & 4 != 0
    (control.maxAge, control.staleIfError) = (reader.amount(), reader.amount())
    self.control = control
    variesByEverything = flags & 8 != 0
    let length = Int(reader.number(UInt32.self))
    guard length <= PackedFields.longest else { return nil }
    packed = PackedFields(bytes: [UInt8](reader.raw(length)))
  }

  private var flags: UInt8 {
    (control.noStore ? 1 : 0) | (control.noCache ? 2 : 0) | (control.mustRevalidate ? 4 : 0)
      | (variesByEverything ? 8 : 0)
  }
}
