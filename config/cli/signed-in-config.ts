/** The environment variables of commands that call the API. */
interface SignedInConfig {
  url: string | undefined;
  key: string | undefined;
  /** Where programs keep the settings of their user; the default is `~/.config`. */
  configHome: string | undefined;
}

/** An empty variable counts as missing. */
export function readSignedInConfig(): SignedInConfig {
  const { FLOWRUN_URL, FLOWRUN_KEY, XDG_CONFIG_HOME } = process.env;
  return {
    url: FLOWRUN_URL || undefined,
    key: FLOWRUN_KEY || undefined,
    configHome: XDG_CONFIG_HOME || undefined,
  };
}
