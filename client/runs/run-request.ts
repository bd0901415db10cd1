import { type FileContent, toInputFile } from '../files/input-files.ts';
import type { TriggerRunBody } from '../generated/types.ts';
import type { HttpRequest } from '../http/http.ts';
import { jsonSchemaOf, type OutputSchema } from './output-schema.ts';

export interface RunOptions<T = unknown> extends Omit<TriggerRunBody, 'files'> {
  files?: readonly FileContent[];
  /** A validator of the answer, such as a schema of zod. It also makes the `outputSchema`. */
  output?: OutputSchema<T>;
  /** Sent as `X-Ctx-*` headers. The agent gets them as `FLOW_CTX_*`. */
  context?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * The request that starts a run, with an idempotency key, so that it can be repeated. A request
 * with `mcpServers` cannot have one and is not repeated after it was sent.
 */
export function runRequest<T>({
  signal,
  output,
  context = {},
  ...options
}: RunOptions<T>): Omit<HttpRequest, 'path'> {
  const isRepeatable = options.mcpServers === undefined;
  const key = options.idempotencyKey ?? (isRepeatable ? crypto.randomUUID() : undefined);
  return {
    method: 'POST',
    json: {
      ...options,
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(options.files === undefined ? {} : { files: options.files.map(toInputFile) }),
      ...(output === undefined ? {} : { outputSchema: jsonSchemaOf(output) }),
    },
    headers: Object.fromEntries(
      Object.entries(context).map(([name, value]) => [`x-ctx-${name}`, headerValue(value)]),
    ),
    isRepeatable,
    signal,
  };
}

/** Header values are bytes; the service reads them as UTF-8. */
const headerValue = (text: string): string =>
  String.fromCharCode(...new TextEncoder().encode(text));
