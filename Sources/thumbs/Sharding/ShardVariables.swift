import ArgumentParser

/// The environment variables by which schedulers number the processes of a job.
struct ShardVariables: Sendable {
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
