/** The configuration is invalid. The message names every invalid variable, but never a value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
