// swift-tools-version: 6.2
import PackageDescription

let libraries: [Target.Dependency] = [
  .product(name: "BatchFetch", package: "thumbs"),
  .product(name: "ImageCache", package: "thumbs"),
]

let package = Package(
  name: "LibraryCall",
  dependencies: [.package(name: "thumbs", path: "../..")],
  targets: [
    .executableTarget(name: "LibraryCall", dependencies: libraries),
    .executableTarget(name: "TableOfIcons", dependencies: libraries),
    .executableTarget(name: "PackageDownloader", dependencies: libraries),
  ],
  swiftLanguageModes: [.v6]
)
