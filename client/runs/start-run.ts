import { type FileContent, toInputFile } from '../files/input-files.ts';
import type { RunRecord, TriggerRunBody } from '../generated/types.ts';
import type { Http, HttpRequest } from '../http/http.ts';
import type { FlowNames } from './flow-names.ts';
import { jsonSchemaOf, type OutputSchema } from './output-schema.ts';
import type { RunResult } from './result.ts';
import { openRun, type Run } from './run.ts';

export interface RunOptions<T = unknown> extends Omit<TriggerRunBody, 'files'> {
  files?: readonly FileContent[];
  /** A validator of the answer, such as a schema of zod. It also makes the `outputSchema`. */
  output?: OutputSchema<T>;
  /** Sent as `X-Ctx-*` headers. The agent gets them as `FLOW_CTX_*`. */
  context?: Record<string, string>;
  signal?: AbortSignal;
}

/** A promise of a run that has a shortcut to the run's result. */
export interface PendingRun<T = unknown> extends Promise<Run<T>> {
  result(options?: { signal?: AbortSignal }): Promise<RunResult<T>>;
}

/**
 * Starts a run with an idempotency key, so that the request can be repeated. A request with
 * `mcpServers` cannot have one and is not repeated after it was sent.
 */
export function startRun<T>(
  { http, flows }: { http: Http; flows: FlowNames },
  flow: string,
  { signal, output, context = {}, ...options }: RunOptions<T>,
): PendingRun<T> {
  async function start(): Promise<Run<T>> {
    const isRepeatable = options.mcpServers === undefined;
    const key = options.idempotencyKey ?? (isRepeatable ? crypto.randomUUID() : undefined);
    const request: Omit<HttpRequest, 'path'> = {
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
    const record = await flows.withFlow(flow, (flowId) =>
      http.data<RunRecord>({ ...request, path: `/flows/${flowId}/runs` }),
    );
    return openRun(http, record, output);
  }
  const started = start();
  return Object.assign(started, {
    result: async (given?: { signal?: AbortSignal }) => (await started).result(given),
  });
}

/** Header values are bytes; the service reads them as UTF-8. */
const headerValue = (text: string): string =>
  String.fromCharCode(...new TextEncoder().encode(text));
