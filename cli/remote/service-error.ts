import type { FlowrunError } from '../../client/http/errors.ts';
import { exitCodes } from './exit-codes.ts';

/** The message of an error of the service, with what to do next. */
export function formatServiceError(error: FlowrunError): { message: string; exitCode: number } {
  const exitCode = codeOf(error.code);
  const hint = hintFor(error);
  const lines = [messageOf(error), ...(hint === null ? [] : [hint])];
  return { message: lines.join('\n'), exitCode };
}

function messageOf({ code, message, cause, requestId }: FlowrunError): string {
  if (code === 'CONNECTION_FAILED') return `${message} ${reasonOf(cause)}`.trim();
  const request = requestId === null ? '' : ` (request ${requestId})`;
  return `${code}: ${message}${request}`;
}

/** Node nests the error of the socket. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message;
}

function codeOf(code: string): number {
  switch (code) {
    case 'CONCURRENT_LIMIT':
    case 'SESSION_LIMIT':
    case 'RUNNER_OFFLINE':
      return exitCodes.noSlot;
    case 'MONTHLY_QUOTA':
    case 'BUDGET_REACHED':
      return exitCodes.budget;
    default:
      return exitCodes.failure;
  }
}

function hintFor({ code, status }: FlowrunError): string | null {
  switch (code) {
    case 'CONNECTION_FAILED':
      return 'Check the address of the service: flowrun context list';
    case 'UNAUTHORIZED':
      return status === 401 ? signInAgain : null;
    case 'CONCURRENT_LIMIT':
      return 'These runs use the slots: flowrun runs --status running';
    case 'SESSION_LIMIT':
      return 'These sessions are open: flowrun runs --status running';
    default:
      return null;
  }
}

const signInAgain =
  'Sign in with a valid key: flowrun login <url> --key <key>\n' +
  'Operators need a valid token: flowrun login <url> --token, or FLOWRUN_TOKEN.';
