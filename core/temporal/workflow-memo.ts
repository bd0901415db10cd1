import type { TriggerType } from '../runs/run.ts';

/** What was told of it at the start; unlike the details of a start, a history that begins anew has it too. */
export interface Memo extends MemoRun {
  prompt: string;
  /** Of the service's own, with all that there is to say. */
  page?: string;
}

/** Which run it is: all that is known of one that Postgres has lost. */
export interface MemoRun {
  runId: string;
  flowId: string;
  projectId: string;
  triggerType: TriggerType;
  timeoutSeconds: number;
  /** Absent where it is no session. */
  sessionId?: string;
}

/** As the pages of Temporal's web interface show it. */
export const linkTo = (page: string): string => `[In full](${page}), for operators of the service`;

/** Null where whoever has started the workflow has not said all of it. */
export function runOfMemo(memo: Record<string, unknown> = {}): MemoRun | null {
  const { runId, flowId, projectId, triggerType, timeoutSeconds, sessionId } = memo;
  if (!isUuid(runId) || !isUuid(flowId) || typeof projectId !== 'string') return null;
  if (!isTriggerType(triggerType) || !isCount(timeoutSeconds)) return null;
  const session = typeof sessionId === 'string' ? { sessionId } : {};
  return { runId, flowId, projectId, triggerType, timeoutSeconds, ...session };
}

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

const isTriggerType = (value: unknown): value is TriggerType =>
  value === 'api' || value === 'dashboard' || value === 'schedule';

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0;
