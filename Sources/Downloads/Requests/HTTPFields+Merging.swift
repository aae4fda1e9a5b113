package import HTTPTypes

extension HTTPFields {
  /// Returns these fields, with an `Accept` field if they have none.
  package func accepting(_ mediaTypes: String) -> HTTPFields {
    var fields = self
    if fields[.accept] == nil { fields[.accept] = mediaTypes }
    return fields
  }

  /// Replaces the fields that have the same names as those in `others`, and adds the rest of `others`.
  mutating func replace(with others: HTTPFields) {
    for field in others { self[field.name] = nil }
    append(contentsOf: others)
  }
}
