/// The descriptions of the metrics, as in `Documentation/formats.md`.
enum MetricHelp {
  /// The text after `# HELP`, by the name of the metric.
  static let texts = [
    "thumbs_build_info": "Always 1. The label has the version of the command.",
    "thumbs_cache_evictions_total": "Entries removed to stay within the limit, by tier.",
    "thumbs_cache_hits_total": "Lookups that a tier served.",
    "thumbs_cache_misses_total": "Lookups that a tier could not serve.",
    "thumbs_cache_size_bytes": "Size of the entries of a tier.",
    "thumbs_download_seconds": "Time of a download from its first attempt to the last byte, retries included.",
    "thumbs_downloaded_bytes_total": "Bytes of the bodies downloaded.",
    "thumbs_downloads_total": "Downloads that ended, by failure code; empty if successful.",
    "thumbs_images_in_flight": "Images that are looked up, downloaded or rendered.",
    "thumbs_items_total": "Rows of the manifests that ended, by outcome, origin and failure code.",
    "thumbs_queue_depth": "Images that wait for a lookup or a render, and those that wait for a transfer or have one.",
    "thumbs_queue_seconds": "Time of an image from its request to its first attempt, or to the cache hit.",
    "thumbs_remote_cache_lookups_total": "Lookups in the remote cache, by result.",
    "thumbs_remote_cache_uploads_total": "Images uploaded to the remote cache, or not, by result.",
    "thumbs_render_seconds": "Time to decode, resize and encode all sizes of an image.",
    "thumbs_renders_total": "Images decoded.",
    "thumbs_run_exit_code": "Exit status of the run; -1 until it has finished.",
    "thumbs_run_finished": "1 if the run has finished, 0 before.",
    "thumbs_run_start_time_seconds": "Start of the run, in seconds since 1970.",
  ]
}
