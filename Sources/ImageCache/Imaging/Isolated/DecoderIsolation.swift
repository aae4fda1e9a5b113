internal import Foundation
import Glibc

/// The settings for `thumbs-decode`, the program that decodes formats which are not trusted: AVIF, HEIC, JPEG 2000,
/// JPEG XL, PSD, SVG, TIFF and camera raw files; and for `thumbs-decode-pdf`, the one for PDF.
///
/// Each thread that renders has its own process of the program, which it starts on demand and keeps for the next image,
/// with up to 64 MiB of memory. The memory of the machine limits their number. A process can open no file except fonts,
/// no socket and no program, and has limits on memory and time. Whatever it does wrong is a failure of one image. A
/// process decodes up to 200 images, so one that an image has taken over without failing could still change the pixels
/// of later ones. Other processes of the program, which decode nothing, encode thumbnails in AVIF.
public struct DecoderIsolation: Hashable, Sendable {
  /// The formats that other processes decode.
  public enum Scope: String, CaseIterable, Hashable, Sendable {
    /// Those that are not trusted.
    case untrusted
    /// All, for those who trust no codec. `thumbs` renders the thumbnails of the other formats in a process with the
    /// same protections, which reads the profiles of these images and encodes the thumbnails as well.
    case all
  }

  /// The formats that other processes decode. Default ``Scope/untrusted``.
  public var scope = Scope.untrusted
  /// The path of the program. Default nil: the first `thumbs-decode` in the folder of the running program, in
  /// `../libexec/thumbs` from there, in `/usr/libexec/thumbs`, or in `/usr/local/libexec/thumbs`. Without a program, or
  /// with an empty path, the formats are not supported. The product `thumbs-decode` of this package puts it into the
  /// folder of a program that depends on it.
  public var program: String?
  /// The path of `thumbs-decode-pdf`, the program for PDF, in the same way. Default nil: the first one in the same
  /// folders.
  public var documentProgram: String?
  /// The path of `thumbs`, for ``Scope/all``. Default nil: the running program, if it is `thumbs`, or else `thumbs` in
  /// the folder of the running program, in `/usr/bin` or in `/usr/local/bin`.
  public var renderer: String?
  /// The maximum time for one image, at most 20 days. After it, the image fails with `decode_limit`. Default 10
  /// seconds. Encoding an AVIF thumbnail has the same limit, and as much again for each eight megapixels.
  public var timeout: Duration = .seconds(10)
  /// The maximum address space of a process in bytes, libraries included. Default 2 GiB. A process gets less if
  /// ``maxTotalMemory`` is little: its share for each processor, but 1 GiB if there is as much in all.
  public var maxMemory = 2 << 30
  /// The maximum number of bytes for all processes that decode or render. A thread that needs one more process waits
  /// until another one is idle. Default nil: half of the memory of the machine, or of its control group.
  public var maxTotalMemory: Int?
  /// True to decode even where the system cannot protect itself against the program. Default false: there, the formats
  /// are not supported.
  public var allowsUnprotected = false

  /// Creates the default settings.
  public init() {}

  /// The address space that a program needs for its libraries and a small image.
  private static let leastMemory = 512 << 20

  /// The address space of each process in bytes.
  var processMemory: Int {
    let share = max(totalMemory / ProcessInfo.processInfo.activeProcessorCount, min(totalMemory, 1 << 30))
    return min(maxMemory, max(share, Self.leastMemory))
  }

  /// The maximum number of processes that decode or render, at least 1.
  var maxProcesses: Int { max(1, totalMemory / max(1, processMemory)) }

  private var totalMemory: Int {
    let limits = MemoryLimits.current
    return max(0, maxTotalMemory ?? [limits.machine, limits.group].compactMap { $0.map { $0 / 2 } }.min() ?? .max)
  }

  /// The timeout, between 0 and 20 days: `poll(2)` takes the milliseconds as a 32-bit number.
  var boundedTimeout: Duration { min(max(timeout, .zero), .seconds(20 * 86_400)) }
}

/// The limits on the memory of this process, in bytes.
package struct MemoryLimits: Hashable, Sendable {
  /// The memory of the machine; nil if unknown.
  package var machine: Int?
  /// The limit of the control group, such as that of a container; nil if there is none.
  package var group: Int?
  /// The limit on the address space (`ulimit -v`); nil if there is none.
  package var addressSpace: Int?

  /// Those of this process, read once.
  static let current = MemoryLimits(root: "")

  /// Creates limits.
  package init(machine: Int?, group: Int?, addressSpace: Int?) {
    (self.machine, self.group, self.addressSpace) = (machine, group, addressSpace)
  }

  /// The smallest of them; nil if all are unknown.
  package var smallest: Int? { [machine, group, addressSpace].compactMap { $0 }.min() }
}

extension MemoryLimits {
  /// Reads the limits of this process. `root` is put in front of the paths of the kernel's files.
  package init(root: String, addressSpace: ResourceLimit = .addressSpace) {
    self.addressSpace = addressSpace.current
    machine = Self.lines("\(root)/proc/meminfo").first { $0.hasPrefix("MemTotal:") }
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }.map { $0 << 10 }
    let files = Self.lines("\(root)/proc/self/cgroup").flatMap { Self.files(of: $0) }
    let limits = files.compactMap { Self.lines("\(root)/sys/fs/cgroup\($0)").first.flatMap { Int($0) } }
    group = limits.filter { $0 < Self.unlimited }.min()
  }

  /// A number that no real limit reaches. Version 1 of control groups has a larger one in place of no limit.
  private static let unlimited = 1 << 62

  /// Returns the files with the limits of the control group that a line of `/proc/self/cgroup` names, and of its
  /// parents, whose limits apply as well (cgroups(7)).
  private static func files(of line: Substring) -> [String] {
    let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [] }
    let isUnified = parts[1].isEmpty
    guard isUnified || parts[1].split(separator: ",").contains("memory") else { return [] }
    let (base, name) = isUnified ? ("", "memory.max") : ("/memory", "memory.limit_in_bytes")
    let groups = parts[2].split(separator: "/")
    return (0...groups.count).map { count in
      base + groups.prefix(count).map { "/\($0)" }.joined() + "/" + name
    }
  }

  /// Returns the lines of a small file; none if it cannot be read. The files of the kernel have no size, so they are
  /// read in one go.
  private static func lines(_ path: String) -> [Substring] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
  }
}

/// A limit of the kernel for this process.
package struct ResourceLimit: Hashable, Sendable {
  /// The limit in force; nil if there is none.
  package var current: Int?
  /// The value to which a process may raise it; nil if there is no bound.
  package var maximum: Int?

  /// Creates a limit.
  package init(current: Int?, maximum: Int?) { (self.current, self.maximum) = (current, maximum) }

  /// The limit on open files and connections.
  package static var descriptors: ResourceLimit {
    ResourceLimit(of: __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)))
  }
  /// The limit on the address space in bytes.
  package static var addressSpace: ResourceLimit { ResourceLimit(of: __rlimit_resource_t(UInt32(RLIMIT_AS.rawValue))) }
}

extension ResourceLimit {
  private init(of resource: __rlimit_resource_t) {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    // "No limit" is the largest unsigned number.
    (current, maximum) = (Int(exactly: limit.rlim_cur), Int(exactly: limit.rlim_max))
  }
}
