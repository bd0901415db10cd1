/** Failures of engine calls that callers distinguish. */
export type DockerErrorCode =
  | 'image_missing'
  | 'runtime_missing'
  | 'runtime_unusable'
  | 'container_missing'
  | 'foreign_container'
  | 'engine_unreachable'
  | 'engine_timeout'
  | 'rejected';

export class DockerError extends Error {
  readonly code: DockerErrorCode;
  /** The engine's HTTP status; null if it did not answer. */
  readonly status: number | null;

  constructor(
    code: DockerErrorCode,
    message: string,
    options: { cause?: unknown; status?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DockerError';
    this.code = code;
    this.status = options.status ?? null;
  }
}

/** `what` names the call and its object. */
export function dockerErrorOf(what: string, error: unknown): DockerError {
  if (error instanceof DockerError) return error;
  const message = error instanceof Error ? error.message.trim() : String(error);
  const status = statusOf(error);
  const code = status === null ? unreachableOrTimeout(error) : codeOf(status, message);
  const detail = code === 'engine_timeout' ? 'no answer within the deadline' : message;
  const options = status === null ? { cause: error } : { cause: error, status };
  return new DockerError(code, `docker: ${what}: ${detail}`, options);
}

function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return null;
  return typeof error.statusCode === 'number' ? error.statusCode : null;
}

function codeOf(status: number, message: string): DockerErrorCode {
  if (/runtime (name|specified)/i.test(message)) return 'runtime_missing';
  if (status !== 404) return 'rejected';
  return /no such image/i.test(message) ? 'image_missing' : 'container_missing';
}

function unreachableOrTimeout(error: unknown): DockerErrorCode {
  const name = error instanceof Error ? error.name : '';
  return name === 'AbortError' || name === 'TimeoutError' ? 'engine_timeout' : 'engine_unreachable';
}
