import ArgumentParser
import Testing

@testable import thumbs

@Suite struct ShardTests {
  private static func row(_ url: String, index: Int = 0) -> ManifestEntry { .row(ManifestRow(index: index, url: url)) }

  /// The vectors of `Documentation/formats.md`, computed with the Python package `xxhash`.
  @Test(arguments: DocumentedShards.vectors)
  func `The hash of a key never changes`(vector: DocumentedShards.Vector) throws {
    let entry = Self.row(vector.url, index: vector.index)

    #expect(vector.key.text(of: entry) == vector.text)
    #expect(vector.key.hash(of: entry) == vector.hash)
    let shard = Shard(number: vector.shardOfEight, count: 8, key: vector.key)
    #expect(shard.contains(entry))
  }

  /// The vectors of `Documentation/formats.md`, computed with the Python package `xxhash`.
  @Test func `The digest of a list never changes, and does not depend on the order`() {
    let url = "https://images.example/a/1.jpg"
    let entries = [
      Self.row(url), Self.row("http://IMAGES.example:8080/b.png?x=1", index: 1), .bad(BadRow(index: 2, reason: "bad")),
    ]

    #expect(Self.digest([Self.row(url)]) == "4f5c5a44da42b801")
    #expect(Self.digest(entries) == "600c77619454c693" && Self.digest(entries.reversed()) == "600c77619454c693")
    #expect(Self.digest([Self.row(url, index: 1)]) == "8b2fb0407ab594e1" && Self.digest([]) == "0000000000000000")
  }

  private static func digest(_ entries: [ManifestEntry]) -> String {
    entries.reduce(into: ListDigest()) { $0.add($1) }.description
  }

  @Test func `The document has vectors for each key`() {
    #expect(Set(DocumentedShards.vectors.map(\.key)) == Set(ShardKey.allCases))
  }

  @Test(arguments: ShardKey.allCases) func `Every row belongs to exactly one shard`(key: ShardKey) {
    let entries = (0..<500).map { index in
      index.isMultiple(of: 7)
        ? ManifestEntry.bad(BadRow(index: index, reason: "bad"))
        : Self.row("https://h\(index % 40).example/\(index)", index: index)
    }
    for count in [1, 2, 7, 8] {
      let shards = (1...count).map { Shard(number: $0, count: count, key: key) }
      #expect(entries.allSatisfy { entry in shards.count { $0.contains(entry) } == 1 })
      #expect(shards.allSatisfy { shard in entries.contains(where: shard.contains) })
    }
  }

  @Test func `Rows of a host stay together, and so do spellings of a URL`() {
    #expect(ShardKey.host.text(of: Self.row("HTTPS://A.example:443/x")) == "a.example")
    #expect(ShardKey.host.text(of: Self.row("http://a.example:8080/y")) == "a.example:8080")
    #expect(ShardKey.url.text(of: Self.row("https://user:secret@A.example/a/../b#c")) == "https://a.example/b")
    #expect(ShardKey.host.text(of: Self.row("file:///a.png")) == "file:///a.png")
    #expect(ShardKey.host.text(of: Self.row("::")) == "::")
    #expect(ShardKey.host.text(of: .bad(BadRow(index: 12, reason: "bad"))) == "12")
  }

  @Test(arguments: ["", "3", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "a/8", "AUTO", "1/70000", " 1/8"])
  func `A wrong shard is a usage error`(text: String) {
    #expect(throws: ValidationError.self) { try ShardOption(text) }
  }

  @Test(arguments: [("1/1", ShardOption.numbered(1, of: 1)), ("3/8", .numbered(3, of: 8)), ("auto", .automatic)])
  func `A shard is a number of a count, or automatic`(text: String, expected: ShardOption) throws {
    #expect(try ShardOption(text) == expected)
  }
}

@Suite struct ShardVariablesTests {
  private static let slurm = [
    "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "40", "SLURM_ARRAY_TASK_COUNT": "4",
    "SLURM_ARRAY_TASK_STEP": "10",
  ]

  @Test(arguments: [
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "10"]) { $1 }, [1, 4]),
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "40", "THUMBS_SHARDS": "4"]) { $1 }, [4, 4]),
    (
      [
        "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "7",
        "SLURM_ARRAY_TASK_COUNT": "8",
      ], [1, 8]
    ),
    (["JOB_COMPLETION_INDEX": "0", "THUMBS_SHARDS": "3"], [1, 3]),
    (["JOB_COMPLETION_INDEX": "2", "THUMBS_SHARDS": "3"], [3, 3]),
    (["PARALLEL_SEQ": "1", "THUMBS_SHARDS": "3"], [1, 3]), (["PARALLEL_SEQ": "3", "THUMBS_SHARDS": "3"], [3, 3]),
  ])
  func `The variables of a scheduler determine the shard`(environment: [String: String], expected: [Int]) throws {
    let shard = try ShardOption.automatic.shard(by: .url, environment: environment)
    #expect([shard.number, shard.count] == expected && shard.key == .url)
  }

  @Test(arguments: [
    ([:], "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ is set"),
    (["PARALLEL_SEQ": "1"], "THUMBS_SHARDS is not set"),
    (["JOB_COMPLETION_INDEX": "3", "THUMBS_SHARDS": "3"], "JOB_COMPLETION_INDEX=3 is not one of 3 shards"),
    (["PARALLEL_SEQ": "0", "THUMBS_SHARDS": "3"], "is not one of 3"), (["PARALLEL_SEQ": "x"], "'x', not a number"),
    (["PARALLEL_SEQ": "1", "THUMBS_SHARDS": "0"], "is not one of 0 shards"),
    (
      ["PARALLEL_SEQ": "1", "JOB_COMPLETION_INDEX": "1", "THUMBS_SHARDS": "2"],
      "JOB_COMPLETION_INDEX and PARALLEL_SEQ are set"
    ),
    (["SLURM_ARRAY_TASK_ID": "1"], "SLURM_ARRAY_TASK_MIN is not set"),
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "15"]) { $1 }, "not evenly spaced"),
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "50"]) { $1 }, "not evenly spaced"),
    // `--array=10,20,40`
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "20", "SLURM_ARRAY_TASK_COUNT": "3"]) { $1 }, "not evenly spaced"),
    (slurm.merging(["SLURM_ARRAY_TASK_ID": "20", "THUMBS_SHARDS": "8"]) { $1 }, "has 4 tasks, but THUMBS_SHARDS is 8"),
  ])
  func `Variables that do not determine the shard are a usage error`(environment: [String: String], reason: String) {
    let error = #expect(throws: ValidationError.self) {
      try ShardOption.automatic.shard(by: .host, environment: environment)
    }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }
}
