import type { RunRecord } from '../../client/generated/types.ts';

const triggers: Record<RunRecord['triggerType'], string> = {
  api: 'API run',
  dashboard: 'Manual run',
  schedule: 'Scheduled run',
};

/** The name of a run. A run without one is named after its trigger. */
export const titleOf = (run: Pick<RunRecord, 'name' | 'triggerType' | 'sessionId'>): string =>
  run.name ?? (run.sessionId === null ? triggers[run.triggerType] : 'Session');
