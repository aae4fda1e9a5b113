import ArgumentParser

/// The option that concerns the configuration file, which is read before the parser runs.
struct ConfigurationOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Ignore the configuration file.",
      discussion: """
        It is $THUMBS_CONFIG, else $XDG_CONFIG_HOME/thumbs/config.toml, else ~/.config/thumbs/config.toml. Options on \
        the command line replace its settings; --no-NAME switches off its flag NAME.
        """))
  var noConfig = false
}
