import ArgumentParser

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
      guard replacement == .own, let path = file.path, let kind = OwnFile(role) else { continue }
      if !kind.mayReplace(file) { throw OutputError(.create, path, .notOwn) }
    }
    for (file, role) in roles { inputs.reserved.insert(file, as: role) }
  }

  private var outputs: [(file: NamedFile, role: FileRole)] {
    let all = [(report, FileRole.report), (summary, .summary), (gallery, .gallery), (metrics, .metrics)]
    return all.compactMap { file, role in file.map { ($0, role) } }
  }

  /// The report to write: a new file, or an update of the retried report.
  var reportOutput: (any ReportOutput)? {
    get throws(OutputError) {
      guard let updated else { return report.map(ReportWriter.init) }
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
