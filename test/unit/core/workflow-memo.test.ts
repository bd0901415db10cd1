import { expect, test } from 'vitest';
import { runOfMemo } from '../../../core/temporal/workflow-memo.ts';

const id = '0b0c3f0e-6c0a-4b4e-9b1e-1d2f3a4b5c6d';
const run = { runId: id, flowId: id, projectId: 'p', triggerType: 'api', timeoutSeconds: 60 };

test("a workflow's memo identifies its run", () => {
  expect(runOfMemo({ ...run, prompt: '2 bytes' })).toEqual(run);
  expect(runOfMemo({ ...run, sessionId: 's' })).toEqual({ ...run, sessionId: 's' });
});
