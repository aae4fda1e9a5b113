import Glibc
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
    var metered = ByteSource(name: name, isFile: isFile) { buffer throws(InputError) in
      meter.record { $0.willRead(part) }
      let count = try read(buffer)
      meter.record { $0.didRead(part, count: count) }
      return count
    }
    metered.length = length
    return metered
  }
}

/// The parts of the manifests that have been read, from which the number of all rows is estimated. A plain value: it is
/// informed of reads and rows.
///
/// A manifest is read in chunks, and a chunk is read when the rows of the chunks before it have been returned. At that
/// moment the rows and bytes so far belong together, so the estimate uses only these moments.
struct InputProgress: Hashable, Sendable {
  private struct Part: Hashable {
    /// The number of bytes in the file; nil if it is not a file.
    var size: Int?
    /// The number of rows, if the format has it.
    var knownRows: Int?
    var bytes = 0
    var rows = 0
    /// The rows and bytes at the last read.
    var sampledBytes = 0
    var sampledRows = 0
    var isEnded = false

    var exactRows: Int? { isEnded ? rows : knownRows }

    /// The rows and bytes that belong together; nil before there are any.
    var measured: (rows: Int, bytes: Int)? {
      guard let size else { return nil }
      if let exactRows { return (exactRows, size) }
      return sampledRows > 0 ? (sampledRows, sampledBytes) : nil
    }

    /// Returns the number of rows if the rest has `density` rows per byte: at least those that have been read.
    func rows(ifDensityIs density: Double) -> Int {
      if let exactRows { return exactRows }
      let rest = Double(max(0, (size ?? 0) - sampledBytes)) * density
      return max(rows, sampledRows + Int(min(rest, 1e15)))
    }
  }

  private var parts: [Part] = []

  /// Creates the state before any manifest is open.
  init() {}

  /// Adds a manifest of `size` bytes, as stored; nil for a pipe and for URLs as arguments. Returns its number.
  mutating func add(size: Int?) -> Int {
    parts.append(Part(size: size))
    return parts.count - 1
  }

  /// Records that the manifest `part` has `count` rows.
  mutating func setRows(_ count: Int, of part: Int) { parts[part].knownRows = count }

  /// Records that the bytes read so far from the manifest `part` contain `count` rows, which it has not returned yet.
  mutating func setReadAhead(_ count: Int, of part: Int) {
    (parts[part].sampledBytes, parts[part].sampledRows) = (parts[part].bytes, count)
  }

  /// Records a read of the manifest `part` that begins now.
  mutating func willRead(_ part: Int) {
    guard parts[part].rows > 0 else { return }
    (parts[part].sampledBytes, parts[part].sampledRows) = (parts[part].bytes, parts[part].rows)
  }

  /// Records that the read gave `count` bytes.
  mutating func didRead(_ part: Int, count: Int) { parts[part].bytes += count }

  /// Records that the manifest `part` returned a row.
  mutating func passRow(of part: Int) { parts[part].rows += 1 }

  /// Records that the manifest `part` has no more rows.
  mutating func end(_ part: Int) { parts[part].isEnded = true }

  /// The number of all rows.
  var total: RowTotal {
    let known = parts.compactMap(\.exactRows)
    if known.count == parts.count { return .exactly(known.reduce(0, +)) }
    guard let density, parts.allSatisfy({ $0.size != nil || $0.exactRows != nil }) else { return .unknown }
    return .about(parts.reduce(0) { sum, part in sum + part.rows(ifDensityIs: density) })
  }

  /// The number of rows per byte, in what has been read; nil if that is not enough for an estimate.
  private var density: Double? {
    let measured = parts.compactMap(\.measured)
    let bytes = measured.reduce(0) { $0 + $1.bytes }
    let rows = measured.reduce(0) { $0 + $1.rows }
    return bytes > 0 ? Double(rows) / Double(bytes) : nil
  }
}
