import ArgumentParser
import BatchFetch
import Glibc

/// The files that a run reads.
struct RunInputs: Sendable {
  /// A report whose rows are retried.
  struct Retried: Sendable {
    /// The path of the report; `-` is standard input.
    let path: String
    /// The version of the file that was read; nil for a pipe.
    let version: FileVersion?
    /// The line numbers of the retried rows, from 1.
    let lineNumbers: [Int]
    /// The line numbers of lines that are not rows.
    let otherLines: Set<Int>
    /// The ends of the complete reports in it, without their line feeds.
    let ends: [[UInt8]]
    /// True if the report says that it lacks rows of its run, or was cut.
    let isPartial: Bool

    /// True if rows that the report lacks may be added.
    let isExtended: Bool

    /// True if the report is a file with rows to update.
    var isUpdatable: Bool { path != "-" && version != nil && (!lineNumbers.isEmpty || isExtended) }
  }

  /// The files that no thumbnail may replace: these inputs, and the files that the run adds.
  let reserved = ReservedFiles()
  /// The report of a retry; nil for a run over manifests.
  let retried: Retried?
  /// The paths of the files with the rows, as given on the command line.
  private let paths: [String]
  /// These paths, and those of the directories, in the order of the command line.
  let names: [String]
  private let files: [(path: String, role: FileRole)]

  /// Creates the inputs of a run over `inputs`. `settings` are the other files that its options name.
  init(_ inputs: [ManifestInput], settings: [(path: String, role: FileRole)] = []) {
    paths = inputs.compactMap(\.path)
    names = inputs.compactMap { $0.path ?? $0.directory?.name ?? $0.bucket?.description }
    files = paths.map { ($0, .manifest($0)) } + settings
    retried = nil
  }

  /// Creates the inputs of a retry of `report`, which is at `path`, with the `lists` of its run. `settings` are the
  /// other files that its options name.
  init(
    _ report: RetryReport, at path: String, lists: [String] = [], settings: [(path: String, role: FileRole)] = []
  ) {
    (paths, names) = ([path], [path])
    files = [(path, .retriedReport(path))] + lists.map { ($0, .manifest($0)) } + settings
    retried = Retried(
      path: path, version: report.version, lineNumbers: report.lineNumbers, otherLines: report.otherLines,
      ends: report.ends, isPartial: report.isKnownPartial, isExtended: report.reported != nil)
    for case .row(let row) in report.rows.map(\.entry) { reserved.insert(sourcesOf: row) }
  }

  /// The role of each file.
  var roles: [FileIdentity: FileRole] {
    let identified = files.compactMap { path, role in Self.identity(of: path).map { ($0, role) } }
    return Dictionary(identified) { first, _ in first }
  }

  /// True if reading the rows may wait for another process. A report to retry has been read whole.
  var mayBlock: Bool { retried == nil && paths.contains { Self.identity(of: $0) == nil } }

  private static func identity(of path: String) -> FileIdentity? {
    path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)
  }
}

/// The output files named on the command line, opened but not yet changed, and the output directory, which may contain
/// them.
struct NamedFiles {
  private(set) var report: NamedFile?
  private(set) var summary: NamedFile?
  private(set) var gallery: NamedFile?
  private(set) var metrics: NamedFile?
  /// The retried report, if the run updates it: without `--report`, or if that names the same file.
  private let updated: RunInputs.Retried?
  /// True if `--report` names the retried report. Then it is an error if that cannot be updated.
  private let mustUpdate: Bool
  private let directories: NewDirectories

  /// Creates the output `directory` if it is missing, and opens the files named in `options`. If one cannot be opened,
  /// removes what it created.
  init(_ options: OutputOptions, inputs: RunInputs, directory: String) throws(OutputError) {
    mustUpdate = options.report != nil
    updated = inputs.retried.flatMap { retried in
      guard let path = options.report else { return retried.isUpdatable ? retried : nil }
      guard path != "-", let file = FileIdentity(path: path) else { return nil }
      return FileIdentity(path: retried.path) == file ? retried : nil
    }
    directories = try NewDirectories(for: directory)
    do throws(OutputError) {
      if updated == nil { report = try Self.open(options.report) }
      summary = try Self.open(options.summary)
      gallery = try Self.open(options.gallery)
      metrics = try Self.open(options.metrics)
    } catch {
      discard()
      throw error
    }
  }

  private static func open(_ path: String?) throws(OutputError) -> NamedFile? {
    guard let path else { return nil }
    return try NamedFile(path: path)
  }

  /// Removes the files and directories that did not exist before.
  func discard() {
    for file in [report, summary, gallery, metrics] { file?.discard() }
    directories.remove()
  }

  /// Reserves all files. Throws if two outputs are the same file, if an output is also an input, or if an output would
  /// replace a file that `thumbs` did not make.
  func check(_ inputs: RunInputs, replacement: OutputWriter.Replacement) throws {
    var roles = inputs.roles
    for (file, role) in outputs {
      if let identity = file.identity, let other = roles.updateValue(role, forKey: identity) {
        throw ValidationError("\(file.name) cannot be both \(other) and \(role); give each its own file.")
      }
      guard replacement == .own, let path = file.path, let kind = GeneratedFile(role) else { continue }
      if !kind.mayReplace(file) { throw OutputError(.create, path, .notOwn) }
    }
    for (file, role) in roles { inputs.reserved.insert(file, as: role) }
  }

  private var outputs: [(file: NamedFile, role: FileRole)] {
    let all = [(report, FileRole.report), (summary, .summary), (gallery, .gallery), (metrics, .metrics)]
    return all.compactMap { file, role in file.map { ($0, role) } }
  }

  /// Returns the writer of a new report: a table if the name of the file says so.
  private static func writer(_ file: NamedFile) -> any ReportOutput {
    guard let format = file.path.flatMap(ReportTable.Format.init(path:)) else { return ReportWriter(file) }
    return ReportTableWriter(file, format)
  }

  /// The report to write: a new file, or an update of the retried report.
  var reportOutput: (any ReportOutput)? {
    get throws(OutputError) {
      guard let updated else { return report.map(Self.writer) }
      do throws(OutputError) {
        return try ReportUpdate(updated)
      } catch {
        // Two retries of a report at once are a mistake, but one that only cannot be written may still be retried.
        if mustUpdate || error.cause == .changed { throw error }
        _ = ExitCode.cannotCreate.printing("The report is not updated. \(error)")
        return nil
      }
    }
  }
}
