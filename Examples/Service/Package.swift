// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Service",
  dependencies: [
    .package(name: "thumbs", path: "../..", traits: [.defaults, "ServiceLifecycle", "Tracing"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "ThumbnailService",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "BatchFetch", package: "thumbs"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ImageCache", package: "thumbs"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
