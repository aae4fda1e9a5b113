@testable import BatchFetch

extension Downloader.Configuration {
  /// The defaults, without deadlines that a busy machine could miss: tests own time.
  static var patient: Downloader.Configuration {
    var configuration = Downloader.Configuration()
    configuration.limits.connect = .seconds(600)
    configuration.limits.firstByte = .seconds(600)
    configuration.limits.total = .seconds(600)
    configuration.limits.stallInterval = .seconds(600)
    return configuration
  }
}

extension CurlTransport.Configuration {
  /// The defaults, whatever proxies the environment has.
  static var direct: CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.proxies = .none
    return configuration
  }
}
