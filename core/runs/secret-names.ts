/**
 * Names whose values never appear in a log, in small letters without anything between them:
 * `apiKey`, `api_key` and `X-Api-Key` are one.
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

/** The same, at the end of a name. */
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
