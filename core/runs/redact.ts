import { secretEndings, secretNames } from './secret-names.ts';

/** A copy for the log, without values under secret names and without credentials inside strings. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxDepth) return redacted;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const quotesRow = isDatabaseError(value);
  const members = Object.entries(value).map(([name, member]) => [
    name,
    quotesRow && rowQuoting.has(name) ? redacted : redactMember(name, member, depth + 1),
  ]);
  return Object.fromEntries(members);
}

/** Removes API keys, tokens, credentials in headers, passwords in URLs, and secrets in queries. */
export function redactText(text: string): string {
  return text
    .replaceAll(serviceCredential, '$1_[redacted]')
    .replaceAll(modelKey, 'sk-[redacted]')
    .replaceAll(headerCredentials, '$1 [redacted]')
    .replaceAll(passwordInAddress, '$1[redacted]@')
    .replaceAll(secretInQuery, '$1[redacted]')
    .replaceAll(privateKey, '[redacted private key]');
}

/** Whether a name denotes a secret, in any spelling. */
export function isSecretName(name: string): boolean {
  const letters = lettersOf(name);
  return secretNames.has(letters) || secretEndings.some((ending) => letters.endsWith(ending));
}

const redacted = '[redacted]';
/** Postgres quotes the failed row or statement in these fields, which may include the prompt. */
const rowQuoting = new Set(['detail', 'where', 'internalQuery']);
const maxDepth = 8;

/** API keys, operator tokens and run tokens. */
const serviceCredential = /(fr[sot])_[0-9A-Za-z]{20,}/g;
const modelKey = /\bsk-[A-Za-z0-9_-]{8,}/g;
const headerCredentials = /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const passwordInAddress = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"']{1,500}@/gi;
const secretInQuery =
  /([?&](?:api_?key|key|token|secret|sig|signature|(?:ssl)?password|auth)=)[^&\s"']+/gi;
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|$)/gs;
const origin = /^[a-z]{1,10}:\/\/[^/?#@]{1,300}(?=[/?#]|$)/i;

function isDatabaseError(value: object): boolean {
  return 'severity' in value && 'routine' in value;
}

/** Shows that there was a value, but not which. Numbers are not secret. */
function redactMember(name: string, member: unknown, depth: number): unknown {
  if (typeof member === 'string' && lettersOf(name) === 'callbackurl') return originOf(member);
  const mayBeSecret = typeof member === 'string' || (typeof member === 'object' && member !== null);
  return mayBeSecret && isSecretName(name) ? redacted : redact(member, depth);
}

/** Callback URLs have secrets in their path and query; only the origin is logged. */
function originOf(address: string): string {
  return `${origin.exec(address)?.[0] ?? ''}/${redacted}`;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}
