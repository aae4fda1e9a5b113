import Downloads
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import thumbs

/// The only finding of `check`.
private func finding(_ check: some DoctorCheck) throws -> Finding {
  try #require(check.findings.count == 1)
  return check.findings[0]
}

@Suite struct CacheCheckTests {
  private static let disk = FileSystem(
    name: "ext4", isReadOnly: false, availableBytes: 1 << 40, totalBytes: 1 << 41)

  private static let remote = FileSystem(
    name: "NFS", kind: .remote, isReadOnly: false, availableBytes: 1 << 40, totalBytes: 1 << 41)

  /// A healthy directory without a cache, changed by `change`.
  private static func condition(_ change: (inout CacheCondition) -> Void = { _ in }) -> CacheCondition {
    var condition = CacheCondition(
      directory: "/c", contents: .noCache, lock: .free, owner: 1000, user: 1000, isWritable: true, fileSystem: disk)
    change(&condition)
    return condition
  }

  @Test func `A healthy directory is ok`() throws {
    let missing = Self.condition { ($0.contents, $0.lock, $0.owner) = (.missing, .missing, nil) }
    for condition in [Self.condition(), missing] {
      #expect(try finding(CacheCheck(condition: condition)).state == .ok)
    }
  }

  @Test(arguments: [
    (condition { $0.owner = 0 }, "belongs to user 0", "chown"),
    (
      condition { ($0.obstacle, $0.owner, $0.isWritable) = ("/a", 0, false) }, "/a is not a directory",
      "Move it away so that /c can be created"
    ),
    (condition { $0.fileSystem?.kind = .virtual }, "no files can be created", "--cache-dir"),
    (condition { $0.isWritable = false }, "cannot be written", "--cache-dir"),
    (condition { $0.fileSystem?.isReadOnly = true }, "cannot be written", "--cache-dir"),
    (condition { $0.fileSystem = remote }, "NFS", "local disk"),
    (condition { $0.contents = .unreadable(DiskCacheError(.corrupt, "Damaged.")) }, "Damaged.", "verify --repair"),
    (condition { $0.contents = .unreadable(DiskCacheError(.newerSchema, "New.")) }, "New.", "version of thumbs"),
    (condition { $0.lock = .unusable("Permission denied") }, "Permission denied", "file lock"),
  ])
  func `A directory that no run can use is a problem`(
    condition: CacheCondition, message: String, remedy: String
  ) throws {
    let finding = try finding(CacheCheck(condition: condition))

    #expect(finding.state == .problem)
    #expect(finding.message.contains(message))
    #expect(finding.remedy?.contains(remedy) == true)
  }

  @Test(arguments: [
    condition { $0.lock = .held }, condition { $0.fileSystem?.availableBytes = 1 << 20 }, nil,
  ])
  func `A held lock, a full disk, and no home directory are warnings`(condition: CacheCondition?) throws {
    #expect(try finding(CacheCheck(condition: condition)).state == .warning)
  }

  @Test(arguments: [(9, false), (10, true), (52, true)])
  func `A limit that costs a tenth of the hits is a warning`(lost: Int, isWarning: Bool) throws {
    let shortage = CacheShortage(runs: 3, bytes: 1900 << 20, limit: 1 << 30, hits: 100 - lost, lost: lost)
    let finding = try finding(CacheCheck(condition: Self.condition(), shortage: shortage))

    #expect(finding.state == (isWarning ? .warning : .ok))
    guard isWarning else { return }
    #expect(
      finding.message
        == "The last 3 runs used 1.86 GiB, and the limit is 1.00 GiB: \(lost) % of the hits were lost.")
    #expect(finding.remedy == "Run thumbs cache limit 2304MiB.")
  }

  @Test(arguments: [
    (1, 900, "1MiB"), (1, 1 << 20, "2MiB"), (2, 100 << 20, "112MiB"), (3, 1 << 30, "1280MiB"), (3, 1800 << 20, "2GiB"),
  ])
  func `The advice is a round limit with some room`(runs: Int, bytes: Int, limit: String) {
    let shortage = CacheShortage(runs: runs, bytes: bytes, limit: nil, hits: 1, lost: 1)

    #expect(shortage.remedy == "thumbs cache limit \(limit)")
    #expect(shortage.sentence.hasPrefix(runs == 1 ? "The last run used " : "The last \(runs) runs used "))
    #expect(shortage.sentence.hasSuffix(": 50 % of the hits were lost."))
  }
}

@Suite struct MachineCheckTests {
  @Test func `Without a certificate file or directory, https is a problem`() throws {
    let check = CertificateCheck(file: "/a/ca.crt", directory: "/a/certs") { _ in false }
    let missing = try finding(check)

    #expect(missing.state == .problem)
    #expect(missing.message.contains("/a/ca.crt or /a/certs"))
    #expect(missing.remedy?.contains("ca-certificates") == true)
    #expect(try finding(CertificateCheck { _ in true }).state == .problem)
    #expect(try finding(CertificateCheck(file: "/x", directory: "/y") { $0 == "/y" }).message == "/y")
  }

  @Test func `A variable that names no certificates is part of the problem and of the remedy`() throws {
    let environment = ["SSL_CERT_FILE": "", "CURL_CA_BUNDLE": "/none/ca.pem"]
    let finding = try finding(CertificateCheck(configured: nil, environment: environment))

    #expect(finding.state == .problem && finding.values["variable"] == "CURL_CA_BUNDLE")
    #expect(finding.message == "CURL_CA_BUNDLE names /none/ca.pem, which cannot be read, so https fails.")
    #expect(finding.remedy == "Set CURL_CA_BUNDLE to a PEM file of certificate authorities, or unset it.")
  }

  @Test func `The reason why cacert of the configuration file cannot be used is part of the problem`() throws {
    let finding = try finding(CertificateCheck(configured: "/none/ca.pem", environment: [:]))

    let start = "cacert in the configuration file cannot be used, so no run starts: "
    #expect(finding.state == .problem && finding.message == start + "/none/ca.pem: there is no such file.")
  }

  @Test func `A libcurl without TLS is a problem`() {
    let libraries = [LibraryVersion("libcurl", "8.0.0")]
    #expect(LibraryCheck(libraries: libraries).findings.map(\.state) == [.ok, .problem])
    let secure = libraries + [LibraryVersion("OpenSSL", "3.0.0")]
    #expect(LibraryCheck(libraries: secure).findings.map(\.state) == [.ok, .ok])
  }

  @Test func `A library with a known fault is a warning with a remedy`() throws {
    let libraries = [LibraryVersion("libcurl", "7.88.1"), LibraryVersion("OpenSSL", "3.0.0")]
    let faults = CurlTransport.faults(ofLibcurl: 0x07_58_01)
    let finding = try #require(LibraryCheck(libraries: libraries, faults: faults).findings.last)

    #expect(finding.state == .warning && finding.message.hasPrefix("libcurl 7.88.1 has a known fault: a response"))
    #expect(finding.remedy?.contains("8.1.1 or newer") == true)
    #expect(CurlTransport.faults(ofLibcurl: 0x08_01_01).isEmpty)
  }

  @Test(arguments: [
    ("ftp://a.example", "scheme"), ("http://", "host"), ("http://a.example:99999", "port"), ("http://a b", "URL"),
  ])
  func `A proxy that is no URL is a problem`(proxy: String, flaw: String) throws {
    let finding = try finding(ProxyCheck(environment: ["https_proxy": proxy]))

    #expect(finding.state == .problem)
    #expect(finding.message.contains(flaw))
  }

  @Test(arguments: [
    "http://me:secret@a.example:3128", "me:secret@a.example:3128", "socks5h://me:secret@a.example", "ftp://me:secret@a",
    "http://me:sec/secret@a.example",
  ])
  func `Passwords of proxies are hidden`(proxy: String) throws {
    for name in ["http_proxy", "ALL_PROXY", "HTTP_PROXY"] {
      let finding = try finding(ProxyCheck(environment: [name: proxy]))

      #expect(finding.message.contains("***@a"))
      #expect(!"\(finding)".contains("secret"))
    }
  }

  @Test func `HTTP_PROXY alone is a warning, because it is ignored`() throws {
    let ignored = try finding(ProxyCheck(environment: ["HTTP_PROXY": "http://a.example:3128"]))
    #expect(ignored.state == .warning && ignored.remedy?.contains("http_proxy") == true)

    let both = ["HTTP_PROXY": "http://a.example:3128", "http_proxy": "a.example:3128"]
    #expect(try finding(ProxyCheck(environment: both)).state == .ok)
    #expect(try finding(ProxyCheck(environment: [:])).state == .ok)
  }

  @Test(arguments: [(30, Finding.State.problem), (100, .warning), (1024, .ok), (nil, .ok)] as [(Int?, Finding.State)])
  func `Few descriptors are a warning, and too few a problem`(maximum: Int?, state: Finding.State) throws {
    #expect(try finding(DescriptorCheck(limits: ResourceLimit(current: maximum, maximum: maximum))).state == state)
  }

  @Test(arguments: [(32, Finding.State.problem), (256, .warning), (4096, .ok)])
  func `Little memory is a warning, and too little a problem`(megabytes: Int, state: Finding.State) throws {
    let limits = MemoryLimits(machine: 1 << 40, group: megabytes << 20, addressSpace: nil)
    #expect(try finding(MemoryCheck(limits: limits)).state == state)
  }

  @Test func `The memory of this machine is known`() throws {
    #expect(try #require(MemoryLimits(root: "").machine) > 1 << 20)
  }

  @Test(arguments: [(1, Finding.State.problem), (100, .warning), (90_000, .ok)])
  func `Little space is a warning, and too little a problem`(megabytes: Int, state: Finding.State) throws {
    let fileSystem = FileSystem(
      name: "ext4", isReadOnly: false, availableBytes: megabytes << 20, totalBytes: 100_000 << 20)
    #expect(try finding(SpaceCheck(path: ".", fileSystem: fileSystem)).state == state)
    #expect(try finding(SpaceCheck(path: ".", fileSystem: nil)).state == .problem)
  }

  @Test(
    arguments: [
      ("0::/a/b\n", ["/memory.max": "max", "/a/memory.max": "700", "/a/b/memory.max": "900"], 700),
      ("0::/\n", ["/memory.max": "800"], 800),
      ("5:cpu,memory:/a\n0::/\n", ["/memory/a/memory.limit_in_bytes": "600"], 600), ("0::/\n", [:], nil),
      ("5:memory:/\n", ["/memory/memory.limit_in_bytes": "9223372036854771712"], nil),
    ] as [(String, [String: String], Int?)])
  func `The memory limit is the smallest of the control group and its parents`(
    groups: String, files: [String: String], limit: Int?
  ) throws {
    let directory = try TemporaryDirectory()
    let all = ["/proc/self/cgroup": groups, "/proc/meminfo": "MemTotal:       4 kB\nMemFree: 1 kB\n"].merging(
      files.map { ("/sys/fs/cgroup" + $0, $1 + "\n") }
    ) { $1 }
    for (path, text) in all {
      let parent = URL(fileURLWithPath: directory.path + path).deletingLastPathComponent().path
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
      _ = try directory.write(text, as: String(path.dropFirst()))
    }
    let limits = MemoryLimits(root: directory.path, addressSpace: ResourceLimit(current: nil, maximum: nil))

    #expect(limits == MemoryLimits(machine: 4096, group: limit, addressSpace: nil))
  }
}

@Suite struct DecoderCheckTests {
  /// A program with all formats and enough protections, changed by `change`.
  private static func condition(_ change: (inout DecoderCondition) -> Void = { _ in }) -> DecoderCondition {
    var condition = DecoderCondition()
    condition.program = "/usr/libexec/thumbs/thumbs-decode"
    (condition.formats, condition.libraries) = ([.avif, .svg], ["libavif 1.0", "librsvg 2.0"])
    (condition.protections, condition.isProtected) = (["seccomp"], true)
    change(&condition)
    return condition
  }

  @Test func `A protected program with all formats is ok`() throws {
    let finding = try finding(DecoderCheck(condition: Self.condition()))

    #expect(finding.state == .ok)
    #expect(finding.message == "libavif 1.0, librsvg 2.0; protected by seccomp")
    #expect(finding.values["formats"] == "avif svg" && finding.values["protections"] == "seccomp")
  }

  @Test func `A machine without the program for documents is ready, and one where that fails is not`() throws {
    let absent = try finding(DecoderCheck(kind: .documents, condition: DecoderCondition()))
    let failed = try finding(DecoderCheck(kind: .documents, condition: Self.condition { $0.failure = "it ended" }))

    #expect(absent.state == .ok && absent.message == "thumbs-decode-pdf is not installed, so PDF cannot be decoded")
    #expect(failed.state == .problem && failed.remedy == "Install the package thumbs-decode-pdf again.")
  }

  @Test(arguments: [
    (DecoderCondition(), "is not installed", "Install the package thumbs-decoders", Finding.State.warning),
    (
      condition { ($0.missing, $0.missingPackages) = ([.heic], ["libheif-dev"]) }, "; without heic",
      "Install libheif-dev, and build thumbs-decode again.", .warning
    ),
    (condition { $0.failure = "it is of another version" }, "it is of another version", "again", .problem),
    (
      condition { ($0.protections, $0.isProtected) = ([], false) }, "protected by nothing, which is not enough",
      "--unsafe-decoders", .problem
    ),
    (
      condition { ($0.isProtected, $0.missingPackages) = (false, ["libseccomp-dev"]) }, "not enough",
      "built without libseccomp. Install libseccomp-dev", .problem
    ),
  ])
  func `A program that is missing, incomplete or unprotected has a remedy`(
    condition: DecoderCondition, message: String, remedy: String, state: Finding.State
  ) throws {
    let finding = try finding(DecoderCheck(condition: condition))

    #expect(finding.state == state && finding.message.contains(message))
    #expect(finding.remedy?.contains(remedy) == true)
  }
}
