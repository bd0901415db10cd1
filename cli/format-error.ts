import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { redactText } from '../core/runs/redact.ts';

/** What was asked for cannot be done; the message says why, and what to do. */
export class CliError extends Error {
  override name = 'CliError';
}

/** What was asked for makes no sense, whatever there is: no option is wrong by itself. */
export class UsageError extends CliError {
  override name = 'UsageError';
}

export interface FormattedError {
  /** Empty where it has been said already. */
  message: string;
  exitCode: 1 | 2 | 0;
}

export function formatError(error: unknown): FormattedError {
  if (error instanceof CommanderError)
    return { message: '', exitCode: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof UsageError) return { message: error.message, exitCode: 2 };
  if (error instanceof CliError) return { message: error.message, exitCode: 1 };
  if (error instanceof ConfigError) return { message: configHelp(error), exitCode: 1 };
  return { message: ofDatabase(error), exitCode: 1 };
}

function configHelp(error: ConfigError): string {
  return `${error.message}\nSet it, or start the local stack with \`npm start\`.`;
}

/** Errors of Postgres and of the way to it. */
function ofDatabase(error: unknown): string {
  const said = redactText(errorText(error));
  const code = codeOf(error);
  if (unreachable.has(code) || isNoSocket(error))
    return `Postgres cannot be reached: ${said}\n${startHelp}`;
  if (ofTls.test(code)) return `The way to Postgres is not to be trusted: ${said}\n${tlsHelp}`;
  if (code === '42P01' || code === '42883')
    return 'The database has no schema yet: run `flowrun migrate`.';
  if (code === '3D000') return `${said}\n${startHelp}`;
  if (code === '28P01' || code === '28000')
    return `Postgres refuses the user of DATABASE_URL: ${said}`;
  return said;
}

const startHelp =
  'Is it running, and is DATABASE_URL right? `npm start` brings up the local stack.';

const ofTls = /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/;
const tlsHelp =
  'See sslrootcert, sslcert and sslkey in DATABASE_URL; `flowrun doctor` says what each of them lacks.';

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  '57P03',
]);

/** A socket in the file system is no file that could be missing for any other reason. */
function isNoSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException; // each may be absent
  return code === 'ENOENT' && syscall === 'connect';
}

/** A connection tried on several addresses fails with all of their errors at once. */
function errorText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join('; ');
  return error instanceof Error ? error.message.trim() : String(error);
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code);
}
