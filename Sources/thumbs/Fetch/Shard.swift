import ArgumentParser
import BatchFetch
import CXXHash

/// One of several parts of the rows, each fetched by a separate run.
struct Shard: Hashable, Sendable {
  /// The number of this shard, from 1.
  let number: Int
  /// The number of all shards.
  let count: Int
  /// The property of a row that decides about its shard.
  let key: ShardKey

  /// Returns true if `entry` belongs to this shard. Every entry belongs to exactly one.
  func contains(_ entry: ManifestEntry) -> Bool {
    count == 1 || key.hash(of: entry) % UInt64(count) == UInt64(number - 1)
  }
}

extension Shard: CustomStringConvertible {
  /// The shard as on the command line: `3/8`.
  var description: String { "\(number)/\(count)" }
}

/// The property of a row that decides about its shard. The raw values are those of `--shard-by`.
///
/// `Documentation/formats.md` has the rules. They never change: several versions may fetch the shards of one list.
enum ShardKey: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The host of the URL, with its port unless that is the default. Keeps the limits per host.
  case host
  /// The URL in canonical form.
  case url
  /// The index of the row.
  case row

  /// Returns the hash of the key of `entry`: XXH64 with seed 0 of its UTF-8 bytes.
  func hash(of entry: ManifestEntry) -> UInt64 {
    var text = text(of: entry)
    return text.withUTF8 { xxh64($0.baseAddress, $0.count, 0) }
  }

  /// Returns the key of `entry`. A row without a host has its URL instead, and a row without a URL its index.
  func text(of entry: ManifestEntry) -> String {
    guard self != .row, case .row(let row) = entry else { return String(entry.index) }
    guard let source = try? SourceURL(row.url) else { return row.url }
    return self == .host && !source.host.isEmpty ? source.host : source.description
  }
}

/// A value of `--shard`.
enum ShardOption: Hashable, Sendable {
  /// `3/8`: the number of the shard, from 1, and the number of shards.
  case numbered(Int, of: Int)
  /// `auto`: as the environment says.
  case automatic

  /// Parses `3/8` or `auto`.
  init(_ text: String) throws {
    guard text != "auto" else {
      self = .automatic
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = try? Count.positive(String(parts[0])),
      let count = try? Count.positive(String(parts[1])), number <= count
    else { throw ValidationError("give auto, or the number of the shard and the number of shards, from 1/8 to 8/8") }
    self = .numbered(number, of: count)
  }

  /// Returns the shard. `auto` takes the variables of a scheduler from `environment`.
  func shard(by key: ShardKey, environment: [String: String]) throws -> Shard {
    switch self {
    case .numbered(let number, let count): return Shard(number: number, count: count, key: key)
    case .automatic:
      let (number, count) = try ShardVariables(environment).place
      return Shard(number: number, count: count, key: key)
    }
  }
}

/// The environment variables by which schedulers number the processes of a job.
private struct ShardVariables: Sendable {
  /// The variable with the number of shards, for schedulers that do not provide it.
  static let countName = "THUMBS_SHARDS"
  private static let slurm = "SLURM_ARRAY_TASK_ID"
  private static let kubernetes = "JOB_COMPLETION_INDEX"
  private static let parallel = "PARALLEL_SEQ"

  private let environment: [String: String]

  /// Reads the variables in `environment`.
  init(_ environment: [String: String]) { self.environment = environment }

  /// The number of the shard, from 1, and the number of shards.
  ///
  /// - Throws: A `ValidationError` if no variable, or the variables of several schedulers, are set, or if they do not
  ///   determine the shard: a wrong one would leave rows out without anybody noticing.
  var place: (number: Int, count: Int) {
    get throws {
      let names = [Self.slurm, Self.kubernetes, Self.parallel]
      let found = names.filter { environment[$0] != nil }
      guard let name = found.first else {
        throw flaw("none of \(names.joined(separator: ", ")) is set")
      }
      guard found.count == 1 else { throw flaw("\(found.joined(separator: " and ")) are set") }
      let (number, count) = try name == Self.slurm ? slurmPlace : place(name, first: name == Self.parallel ? 1 : 0)
      guard (1...65_535).contains(count), (1...count).contains(number) else {
        throw flaw("\(name)=\(environment[name] ?? "") is not one of \(count) shards")
      }
      return (number, count)
    }
  }

  private var slurmPlace: (number: Int, count: Int) {
    get throws {
      let id = try value(Self.slurm)
      let (least, greatest) = (try value("SLURM_ARRAY_TASK_MIN"), try value("SLURM_ARRAY_TASK_MAX"))
      let count = try value("SLURM_ARRAY_TASK_COUNT")
      let step = environment["SLURM_ARRAY_TASK_STEP"] == nil ? 1 : try value("SLURM_ARRAY_TASK_STEP")
      guard step > 0, (least...max(least, greatest)).contains(id), (id - least).isMultiple(of: step),
        (greatest - least) / step + 1 == count
      else { throw flaw("the IDs of the array are not evenly spaced") }
      if environment[Self.countName] != nil, try value(Self.countName) != count {
        throw flaw("the array has \(count) tasks, but \(Self.countName) is \(environment[Self.countName] ?? "")")
      }
      return ((id - least) / step + 1, count)
    }
  }

  private func place(_ name: String, first: Int) throws -> (number: Int, count: Int) {
    (try value(name) - first + 1, try value(Self.countName))
  }

  private func value(_ name: String) throws -> Int {
    guard let text = environment[name] else { throw flaw("\(name) is not set") }
    guard let value = UInt32(text) else { throw flaw("\(name) is '\(text.printable)', not a number") }
    return Int(value)
  }

  private func flaw(_ reason: String) -> ValidationError {
    ValidationError("--shard auto: \(reason). Give the shard itself, as in --shard 3/8.")
  }
}

/// A digest of all rows of a list, whatever their order: shards of different lists have different digests.
///
/// `Documentation/formats.md` has the rule. It never changes: several versions may fetch the shards of one list.
struct ListDigest: Hashable, Sendable {
  /// The sum of the hashes of the rows, modulo 2^64.
  private var sum: UInt64 = 0

  /// Adds a row: XXH64 with seed 0 of its index, a space, and its URL in UTF-8.
  mutating func add(_ entry: ManifestEntry) {
    let url = if case .row(let row) = entry { row.url } else { "" }
    var text = "\(entry.index) \(url)"
    sum &+= text.withUTF8 { xxh64($0.baseAddress, $0.count, 0) }
  }
}

extension ListDigest: CustomStringConvertible {
  /// 16 hexadecimal digits.
  var description: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The number of rows of a list, and their digest.
struct ListTally: Hashable, Sendable {
  private(set) var rows = 0
  private(set) var digest = ListDigest()

  /// Adds the next row.
  mutating func add(_ entry: ManifestEntry) {
    rows += 1
    digest.add(entry)
  }
}
