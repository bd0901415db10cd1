import { CommanderError } from 'commander';
import { isFlowrunError } from '../client/http/errors.ts';
import { ConfigError } from '../config/config-error.ts';
import { redactText } from '../core/runs/redact.ts';
import { formatServiceError } from './remote/service-error.ts';

/** The command failed; the message says why and what to do. */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: number;

  constructor(
    message: string,
    { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The options contradict each other, although each is valid alone. */
export class UsageError extends CliError {
  override name = 'UsageError';

  constructor(message: string) {
    super(message, { exitCode: 2 });
  }
}

interface FormattedError {
  /** Empty if commander has already printed it. */
  message: string;
  exitCode: number;
}

export function formatError(error: unknown): FormattedError {
  if (error instanceof CommanderError)
    return { message: '', exitCode: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (isFlowrunError(error)) return formatServiceError(error);
  if (error instanceof ConfigError) return { message: configHelp(error), exitCode: 1 };
  return { message: formatDatabaseError(error), exitCode: 1 };
}

function configHelp(error: ConfigError): string {
  return `${error.message}\nSet it, or start the local stack with \`npm start\`.`;
}

/** Errors of Postgres and of the connection to it. */
function formatDatabaseError(error: unknown): string {
  const text = redactText(errorText(error));
  const code = codeOf(error);
  if (unreachable.has(code) || isMissingSocket(error))
    return `Postgres cannot be reached: ${text}\n${startHelp}`;
  if (tlsCodes.test(code)) return `The TLS connection to Postgres fails: ${text}\n${tlsHelp}`;
  if (code === '42P01' || code === '42883')
    return 'The database has no schema yet: run `flowrun migrate`.';
  if (code === '3D000') return `${text}\n${startHelp}`;
  if (code === '28P01' || code === '28000')
    return `Postgres rejects the user of DATABASE_URL: ${text}`;
  return text;
}

const startHelp =
  'Check that it runs and that DATABASE_URL is correct. `npm start` starts the local stack.';

const tlsCodes = /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/;
const tlsHelp =
  'Check sslrootcert, sslcert and sslkey in DATABASE_URL; `flowrun doctor` finds the cause.';

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  '57P03',
]);

/** ENOENT of a connect: the Unix socket of Postgres does not exist. */
function isMissingSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException; // each may be absent
  return code === 'ENOENT' && syscall === 'connect';
}

/** A connection attempt to several addresses fails with one error per address. */
function errorText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join('; ');
  return error instanceof Error ? error.message.trim() : String(error);
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code);
}
