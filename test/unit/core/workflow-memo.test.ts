import { describe, expect, test } from 'vitest';
import { runOfMemo } from '../../../core/temporal/workflow-memo.ts';

const id = '0b0c3f0e-6c0a-4b4e-9b1e-1d2f3a4b5c6d';
const about = { runId: id, flowId: id, projectId: 'p', triggerType: 'api', timeoutSeconds: 60 };

describe('the memo of a workflow', () => {
  test('says which run it is, among other things', () => {
    expect(runOfMemo({ ...about, prompt: '2 bytes' })).toEqual(about);
    expect(runOfMemo({ ...about, sessionId: 's' })).toEqual({ ...about, sessionId: 's' });
  });

  test.each([
    ['nothing', undefined],
    ['no run', { ...about, runId: undefined }],
    ['a run by another name', { ...about, runId: 'run-1' }],
    ['no flow', { ...about, flowId: undefined }],
    ['no project', { ...about, projectId: undefined }],
    ['nobody we know', { ...about, triggerType: 'else' }],
    ['no time', { ...about, timeoutSeconds: 0 }],
    ['part of a second', { ...about, timeoutSeconds: 1.5 }],
  ])('that says %s says none', (_, memo) => {
    expect(runOfMemo(memo)).toBeNull();
  });
});
