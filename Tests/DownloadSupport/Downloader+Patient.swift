package import Downloads

extension Downloader.Configuration {
  /// The defaults with timeouts that are too long to expire on a busy machine.
  package static var patient: Downloader.Configuration {
    var configuration = Downloader.Configuration()
    configuration.limits.connect = .seconds(600)
    configuration.limits.firstByte = .seconds(600)
    configuration.limits.total = .seconds(600)
    configuration.limits.stallInterval = .seconds(600)
    return configuration
  }
}

extension CurlTransport.Configuration {
  /// The defaults without the proxies of the environment.
  package static var direct: CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.proxies = .none
    return configuration
  }
}
