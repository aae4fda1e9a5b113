import ArgumentParser

/// `thumbs report`: reads reports.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Read the report of a run.",
    discussion: """
      A report may be compressed with gzip; - is standard input. The exit status is 65 if a report cannot be read; \
      for merge, also if a row is missing.

      Examples:
        thumbs report summary report.jsonl
        thumbs report failed report.jsonl
        thumbs report failed report.jsonl --urls | thumbs --report second.jsonl -
        thumbs report merge 1.jsonl 2.jsonl -o all.jsonl
      """,
    subcommands: [ReportSummaryCommand.self, ReportFailedCommand.self, ReportMergeCommand.self])
}

/// The report that a subcommand reads.
struct ReportArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("Report of a run; - is standard input."), completion: .file())
  var report: String

  /// Calls `body` with each row of the report, and returns true if rows of the run are missing. Mentions an unfinished
  /// last line on standard error. Throws the exit code if the report cannot be read.
  @discardableResult
  func forEach(_ body: (ReportReader.Line) -> Void) throws -> Bool {
    do throws(ManifestError) {
      var reader = try ReportReader(path: report)
      while let line = try reader.next() { body(line) }
      if reader.isCut {
        ProgressOutput.standardError.write("thumbs: The last line of the report is not finished and is ignored.\n")
      }
      return reader.isPartial || reader.isUnproven
    } catch {
      throw ExitCode.dataError.printing(error)
    }
  }
}
