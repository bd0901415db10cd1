/** The configuration cannot be used; the message names every variable at fault and never a value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
