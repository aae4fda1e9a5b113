// A program that imports this module can use the downloader of its pipelines.
@_exported public import Downloads
// The specs and the thumbnails of a request are those of the cache.
@_exported public import ImageCache
