import type { RunDetails } from '../generated/types.ts';
import { FlowrunError } from '../http/errors.ts';

export interface RunResult<T = unknown> {
  /** The agent's last answer. */
  text: string;
  /** The answer to `output` or `outputSchema`; null without one. */
  structured: T;
  costUsd: number | null;
  usage: RunDetails['usage'];
  run: RunDetails;
}

/** The run has ended, and not cleanly. `cause` is its `error`, without details. */
export class RunFailed extends FlowrunError {
  override readonly cause: string;
  readonly run: RunDetails;

  constructor(run: RunDetails, error: string) {
    super({ code: 'RUN_FAILED', message: `The run ${run.runId} has ended: ${error}` });
    this.cause = causeOf(error);
    this.run = run;
  }
}

/** `Process exited with code 1` and `container_start_failed: no capacity` have details. */
const causeOf = (error: string): string =>
  error.startsWith('Process exited') ? 'exit_code' : error.replace(/:.*/s, '');

export function resultOf(run: RunDetails): RunResult {
  if (run.error !== undefined) throw new RunFailed(run, run.error);
  const { result, structuredOutput: structured, costUsd, usage } = run;
  return { text: result ?? '', structured, costUsd, usage, run };
}
