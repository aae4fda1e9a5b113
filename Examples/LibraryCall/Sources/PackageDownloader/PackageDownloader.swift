import Downloads
import Foundation

/// Downloads the packages that a configuration file names: PackageDownloader URL DIRECTORY.
///
/// One file at a time; after a crash, the next run continues where the last one was.
@main struct PackageDownloader {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: PackageDownloader URL DIRECTORY") }
    let directory = URL(filePath: CommandLine.arguments[2], directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var settings = Downloader.Configuration()
    settings.concurrency = 1
    let downloader = Downloader(settings)

    let configuration = try await configuration(at: CommandLine.arguments[1], in: directory, downloader)
    for package in configuration.packages {
      try download(package, to: directory, downloader)
    }
    // The completions have returned when this does.
    await downloader.waitUntilFinished()
  }

  private static func configuration(
    at url: String, in directory: URL, _ downloader: Downloader
  ) async throws -> Configuration {
    let file = directory.appending(path: "configuration.json")
    _ = try await downloader.download(DownloadRequest(url: url), to: file)
    return try Configuration(contentsOf: file)
  }

  private static func download(_ package: Configuration.Package, to directory: URL, _ downloader: Downloader) throws {
    let request = try DownloadRequest(url: package.url)
    let file = directory.appending(path: package.name)
    downloader.download(request, to: file, expecting: package.expected) { progress in
      print("\(package.name): \(progress.received) of \(package.length) bytes")
    } completion: { result in
      switch result {
      case .success(let download): print("\(package.name): done, \(download.file?.resumed ?? 0) bytes were there")
      case .failure(let failure): print("\(package.name): \(failure.code): \(failure.message)")
      }
    }
  }
}
