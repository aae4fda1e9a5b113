import ArgumentParser
import BatchFetch
import CMalloc
import Foundation
import ImageCache

/// `thumbs worker`: rows on standard input, results with their thumbnails on standard output, for other programs.
struct WorkerCommand: DownloadingCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Make thumbnails for another program, through its standard streams.",
    discussion: """
      Each line of standard input is a JSON object with the id and the url of an image. Standard output has a result \
      for each, with the encoded thumbnails, in any order. Documentation/worker.md describes both.

      Examples:
        thumbs worker --size 256 --no-cache
        cat rows.jsonl | thumbs worker --protocol jsonl --no-bodies

      Exit status:
        0    every row has its result, whatever that is
        64   the command line is wrong
        65   standard input cannot be read
        74   standard output cannot be written
        129  hung up
        130  interrupted
        143  terminated
      """)

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("Form of the results: binary frames, or lines of JSON with the thumbnails in Base64."))
  var form = ResultProtocol.frames

  @Flag(help: "Leave the thumbnails out of the results.")
  var noBodies = false

  @OptionGroup(title: "Thumbnails") var pixels: PixelOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Politeness") var politeness: PolitenessOptions
  @OptionGroup(title: "Content") var content: ContentOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions
  @OptionGroup(title: "Decoders") var decoders: DecoderOptions
  @OptionGroup var configuration: ConfigurationOptions

  /// Less than in a run that writes files, because the worker may be one of many on a machine.
  static let memoryByteLimit = 1 << 20

  func run() throws {
    if form == .frames, isatty(STDOUT_FILENO) == 1 {
      throw ValidationError("Frames are not text. Use --protocol jsonl, or read standard output through a pipe.")
    }
    try decoders.checkEncoder(for: pixels)
    // Each arena keeps memory that was freed, and by default there are eight per processor: a worker that runs for long
    // would come to use a third more than one that has just begun.
    mallopt(M_ARENA_MAX, Int32(max(1, ProcessInfo.processInfo.activeProcessorCount / 2)))
    let credentials = try Credentials(network)
    let environment = ProcessInfo.processInfo.environment
    let remoteCache = try caching.remote.cache(netrc: network.netrcPath(environment), environment: environment)
    let descriptors = prepareProcess(isQuiet: false)
    try exiting {
      let settings = RunSettings(
        started: .now, hosts: try politeness.hostRules(), connections: descriptors.connections,
        credentials: credentials, remoteCache: remoteCache)
      let rows = WorkerRows(LineReader(try .open("-", expecting: "rows")), specs: pixels.rowSpecs)
      let pipeline = pipeline(settings) { ProgressOutput.standardError.write("\($0)\n") }
      let format = ResultFormat(form: form, bodies: noBodies ? .omitted : .included)
      try WorkerRun(rows, format, pipeline, settings, demand: content.demand).run(InterruptWatch())
    }
  }
}
