import type { TriggerType } from '../runs/run.ts';

/** Set at a workflow's start. Unlike the start's details, continue-as-new keeps it. */
export interface Memo extends MemoRun {
  /** The size of the prompt, never its text. */
  prompt: string;
  /** The URL of the run on the service's web page. */
  page?: string;
}

/** Identifies the run, so that a run that a database restore lost can be imported. */
export interface MemoRun {
  runId: string;
  flowId: string;
  projectId: string;
  triggerType: TriggerType;
  timeoutSeconds: number;
  /** Absent for a run without a session. */
  sessionId?: string;
}

/** In the Markdown that Temporal's web interface renders. */
export const linkTo = (page: string): string =>
  `[Full details](${page}) (for operators of this service)`;

export function runOfMemo(memo: Record<string, unknown> = {}): MemoRun {
  // Every workflow of a run or session is started with a `Memo`.
  const { runId, flowId, projectId, triggerType, timeoutSeconds, sessionId } =
    memo as Partial<Memo> as Memo;
  const session = sessionId === undefined ? {} : { sessionId };
  return { runId, flowId, projectId, triggerType, timeoutSeconds, ...session };
}
