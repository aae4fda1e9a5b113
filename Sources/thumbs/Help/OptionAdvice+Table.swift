extension OptionAdvice {
  /// The advice for `fetch` and `retry`. The names are from aria2, curl, gallery-dl, ImageMagick, img2dataset, rclone,
  /// restic, vipsthumbnail, wget and xargs.
  static let all = inputs + thumbnails + outputs + transfers + trust + habits

  private static let inputs = [
    OptionAdvice(
      "--input --file --files --files-from --from-file --list --manifest --url-list --url_list --urls-file -K",
      use: "-i FILE", "A list may also be an argument: thumbs list.txt"),
    OptionAdvice("--url --urls --source --src", say: "URLs are arguments: thumbs https://example.com/photo.jpg"),
    OptionAdvice("--stdin", say: "A list on standard input is the argument '-'."),
    OptionAdvice("--url_col --url-col --column --key --field", use: "--url-column KEY"),
    OptionAdvice("--caption_col --name-col --caption-column --title-column", use: "--name-column KEY"),
    OptionAdvice(
      "--input_format --input-format", use: "--format-in FORMAT",
      "Without it, the extension or the content of a list decides."),
  ]

  private static let thumbnails = [
    OptionAdvice(
      "--width --height --resize --image_size --image-size --dimensions --thumbnail --thumbnail-size --max-size "
        + "--max-width --max-height --side --geometry -w -W -g",
      use: "-s, --size 256", "A size may also be a box: 200x100."),
    OptionAdvice("--scale --dpr --density --retina", use: "--size 64@2x"),
    OptionAdvice(
      "--crop --resize_mode --resize-mode --mode --cover -m",
      use: "--fit cover", "Its values are inside, cover, pad and stretch."),
    OptionAdvice("--smartcrop --smart-crop --smart --attention", use: "--gravity smart", "It needs --fit cover."),
    OptionAdvice(
      "--position --focus --focal-point --focalpoint --crop-position", use: "--gravity 30%,70%",
      "It needs --fit cover."),
    OptionAdvice("--contain --pad --letterbox --extent", use: "--fit pad"),
    OptionAdvice("--upscale --upsize --allow-upscale --magnify", use: "--enlarge"),
    OptionAdvice(
      "--without-enlargement --resize_only_if_bigger --no-upscale",
      say: "Images are enlarged only with --enlarge."),
    OptionAdvice("--bg --bgcolor --background-color --flatten", use: "--background RRGGBB"),
    OptionAdvice(
      "--type --ext --extension --output-format --output_format --encode_format --convert --to-format -f -F",
      use: "--format jpeg", "Its values are auto, jpeg, png, webp, avif and smallest."),
    OptionAdvice("--jpeg --jpg --png --webp --avif", use: "--format NAME"),
    OptionAdvice("--encode_quality --jpeg-quality --webp-quality --avif-quality --compression -Q", use: "--quality N"),
    OptionAdvice("--interlace --interlaced", use: "--progressive"),
    OptionAdvice("--thumbhash --blurhash --lqip --dominant-color", use: "--placeholders"),
    OptionAdvice("--interpolation --interpolator --resample --resampling", use: "--kernel NAME"),
    OptionAdvice("--iprofile --input-profile --import-profile --profile", use: "--cmyk-profile FILE.icc"),
    OptionAdvice("--eprofile --export-profile --output-profile", say: "Thumbnails are always in sRGB."),
    OptionAdvice("--strip --delete --no-metadata", say: "Thumbnails never contain metadata."),
    OptionAdvice("--rotate --auto-orient --no-rotate", say: "Thumbnails are always upright, as EXIF says."),
  ]

  private static let outputs = [
    OptionAdvice(
      "--out --outdir --out-dir --output-directory --output_folder --output-folder --output-path --outfile --dir "
        + "--directory --directory-prefix --dest --destination --target --to --save --save-to -d -D",
      use: "-o, --output DIR"),
    OptionAdvice("-P", say: "Did you mean '-o DIR' for the directory, or '-j N' for the transfers at once?"),
    OptionAdvice(
      "--template --pattern --filename --file-name --rename --remote-name --output-document --prefix --suffix -O",
      use: "--name-template '{stem}-{spec}.{ext}'", "By default, names are made from URLs."),
    OptionAdvice("--force --allow-overwrite --clobber -f -y", use: "--overwrite"),
    OptionAdvice(
      "--no-clobber --ignore-existing -c -C --continue --continue-at --resume --incremental --incremental_mode",
      use: "--skip-existing"),
    OptionAdvice(
      "-N --timestamping --update -u",
      say: "It is not needed: only what has changed is downloaded and written."),
    OptionAdvice("--create-dirs --mkdir", say: "Directories are created without an option."),
    OptionAdvice(
      "--log --log-file --logfile --write-out --dump-header --json --output-json --results --errors --report-file",
      use: "--report FILE", "It has a line of JSON per row."),
    OptionAdvice("--stats --statistics", use: "--summary FILE"),
    OptionAdvice("--prometheus --textfile --metrics-file", use: "--metrics FILE.prom"),
    OptionAdvice("--placeholder --default-image --fallback-image --on-error", use: "--fallback FILE"),
    OptionAdvice("--html --index --page --contact-sheet --gallery-file", use: "--gallery FILE.html"),
    OptionAdvice("--silent --no-progress-meter --no-progress -S", use: "-q, --quiet"),
    OptionAdvice("--debug --trace --loud -vv", use: "-v, --verbose"),
    OptionAdvice("--progress-bar -#", use: "--progress bar"),
    OptionAdvice("--simulate --just-print --what-if --spider --test --pretend --list-only", use: "-n, --dry-run"),
    OptionAdvice("--repo --repository --cache --cache-directory -r", use: "--cache-dir DIR"),
  ]

  private static let transfers = [
    OptionAdvice(
      "--jobs --parallel --parallel-max --threads --num-threads --workers --transfers --concurrent --connections "
        + "--max-concurrent-downloads --processes --processes_count --thread_count --checkers -p -Z -t",
      use: "-j, --concurrency N"),
    OptionAdvice("--max-connection-per-server --max-connections-per-host --per-server --split", use: "--per-host N"),
    OptionAdvice(
      "--delay --sleep --sleep-request --wait --random-wait --interval --tpslimit --rps --requests-per-second "
        + "--rate-limit --limit-requests",
      use: "--rate 5/s"),
    OptionAdvice(
      "--limit-rate --bwlimit --max-download-limit --max-overall-download-limit --limit-download",
      say: "The bytes per second have no limit; '--rate 5/s' limits the requests per host."),
    OptionAdvice("--tries --max-tries --attempts --low-level-retries --retry-count --max-retries", use: "--retries N"),
    OptionAdvice("--retry-delay --retry-wait --waitretry", use: "--max-wait SECONDS", "Retries wait longer each time."),
    OptionAdvice(
      "--retry-all-errors --retry-failed --retry-connrefused",
      say: "To try failed rows again, run 'thumbs retry --all-failed REPORT'."),
    OptionAdvice("--contimeout --dns-timeout --timeout-connect", use: "--connect-timeout SECONDS"),
    OptionAdvice("--read-timeout --response-timeout --ttfb", use: "--first-byte-timeout SECONDS"),
    OptionAdvice("--max-duration --retry-max-time --deadline --stop", use: "--max-run-time SECONDS"),
    OptionAdvice("--max-transfer --quota", use: "--max-run-bytes SIZE"),
    OptionAdvice("--max-file-size --limit --max-length", use: "--max-bytes SIZE"),
    OptionAdvice(
      "--location --follow --follow-redirects --max-redirect --no-follow -L",
      use: "--max-redirects N", "Redirects are followed without an option; 0 follows none."),
    OptionAdvice("--robots-txt --obey-robots --disallowed_header_directives", use: "--robots"),
  ]

  private static let trust = [
    OptionAdvice(
      "--insecure --no-check-certificate --check-certificate --no-verify --no-verify-ssl --skip-verify --verify "
        + "--insecure-tls --tls-verify -k",
      use: "--insecure-host HOST", "Certificates are left unverified only for hosts that are named."),
    OptionAdvice(
      "--ca-certificate --ca-certificates --ca-cert --ca-file --ca-bundle --ca-path --ca-directory --cafile --capath",
      use: "--cacert FILE.pem"),
    OptionAdvice("--cookie --cookies --cookie-jar --load-cookies -b", use: "--cookie-file FILE"),
    OptionAdvice("--cert --client-cert -E", say: "Client certificates are not supported."),
    OptionAdvice(
      "--proxy --all-proxy --http-proxy --https-proxy --noproxy --no-proxy -x",
      say: "Proxies are set by the environment: https_proxy, http_proxy, all_proxy and no_proxy."),
    OptionAdvice(
      "--user --http-user --login --password --auth", say: "Did you mean '--netrc'? A URL may have a user, too."),
    OptionAdvice("--headers --add-header --http-header", use: "-H, --header 'Name: value'"),
    OptionAdvice("--agent --ua --user_agent --user_agent_token -U", use: "-A, --user-agent TEXT"),
    OptionAdvice("--private --block-private --no-private", use: "--public-only"),
    OptionAdvice("--local --local-files --file-urls", use: "--allow-file"),
  ]

  /// Options whose effect is a habit of other programs.
  private static let habits = [
    OptionAdvice("--request --data --form -X -T --upload-file", say: "Images are always requested with GET."),
    OptionAdvice("--head -I", say: "To see what is in the cache, run 'thumbs cache show URL'."),
    OptionAdvice("--recursive --mirror --page-requisites", say: "Pages are not searched for images; give their URLs."),
    OptionAdvice(
      "--fail --fail-early --fail-with-body",
      say: "Error responses always fail their rows; '--fail-on' is about images."),
    OptionAdvice("--clear-cache --purge", say: "To empty the cache, run 'thumbs cache clear'."),
    OptionAdvice(
      "--config --config-file --configuration --conf",
      say: "The environment names the configuration file: THUMBS_CONFIG=FILE thumbs list.txt"),
    OptionAdvice("-V", say: "To print the version, run 'thumbs --version'."),
    OptionAdvice("--compressed", say: "Compressed responses are decoded without an option."),
  ]
}
