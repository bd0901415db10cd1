/**
 * Names whose values are never logged, in lower case without separators: `apiKey`, `api_key` and
 * `X-Api-Key` are the same.
 */
export const secretNames: ReadonlySet<string> = new Set([
  'args',
  'argv',
  'authorization',
  'body',
  'cert',
  'content',
  'cookie',
  'credential',
  'credentials',
  'databaseurl',
  'env',
  'environment',
  'headers',
  'instructions',
  'key',
  'mcpservers',
  'passphrase',
  'rawheaders',
  'redisurl',
  'setcookie',
  'signature',
  'stdin',
]);

/** The same for the end of a name. */
export const secretEndings: readonly string[] = [
  'apikey',
  'encryptionkey',
  'idempotencykey',
  'password',
  'privatekey',
  'prompt',
  'secret',
  'token',
];
