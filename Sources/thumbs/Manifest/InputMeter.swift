import Synchronization

/// Measures the reading of the manifests for an estimate of the number of rows.
final class InputMeter: Sendable {
  private let progress = Mutex(InputProgress())

  /// The number of all rows.
  var total: RowTotal { progress.withLock { $0.total } }

  /// Changes the state.
  func record<Value: Sendable>(_ change: (inout InputProgress) -> Value) -> Value { progress.withLock { change(&$0) } }
}

extension ByteSource {
  /// Returns this source with its reads recorded in `meter` as those of the manifest `part`.
  func metered(by meter: InputMeter, as part: Int) -> ByteSource {
    var metered = ByteSource(name: name, isFile: isFile) { buffer throws(ManifestError) in
      meter.record { $0.willRead(part) }
      let count = try read(buffer)
      meter.record { $0.didRead(part, count: count) }
      return count
    }
    metered.length = length
    return metered
  }
}
