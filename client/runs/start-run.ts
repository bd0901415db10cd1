import type { RunRecord } from '../generated/types.ts';
import type { Http } from '../http/http.ts';
import type { FlowNames } from './flow-names.ts';
import type { RunResult } from './result.ts';
import { openRun, type Run } from './run.ts';
import { type RunOptions, runRequest } from './run-request.ts';

/** A promise of a run that has a shortcut to the run's result. */
export interface PendingRun<T = unknown> extends Promise<Run<T>> {
  result(options?: { signal?: AbortSignal }): Promise<RunResult<T>>;
}

/** Starts a run of a flow, given by name or ID. */
export function startRun<T>(
  { http, flows }: { http: Http; flows: FlowNames },
  flow: string,
  options: RunOptions<T>,
): PendingRun<T> {
  async function start(): Promise<Run<T>> {
    const request = runRequest(options);
    const record = await flows.withFlow(flow, (flowId) =>
      http.data<RunRecord>({ ...request, path: `/flows/${flowId}/runs` }),
    );
    return openRun(http, record, options.output);
  }
  const started = start();
  return Object.assign(started, {
    result: async (given?: { signal?: AbortSignal }) => (await started).result(given),
  });
}
