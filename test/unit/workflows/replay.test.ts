import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { ensureTemporalRuntime } from '../../support/temporal-runtime.ts';
import { testBundle } from '../../support/test-bundle.ts';

const folder = join(repository, 'test/histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('the workflows', () => {
  it('have a recorded history of every outcome', () => {
    const endings = ['success', 'failed-exit', 'stop', 'delete', 'cancel', 'time-limit'];
    const losses = ['sandbox-lost', 'host-lost', 'moved', 'start-failed'];
    const waits = ['slot-assigned', 'no-capacity', 'session-no-capacity'];
    const sessions = ['session-stop', 'session-sleep', 'session-interrupted', 'session-lost'];
    const real = ['real-run', 'real-session'];
    const required = [...endings, ...losses, ...waits, 'webhook-retried', ...sessions, ...real];
    expect(names).toEqual(expect.arrayContaining(required.map((name) => `${name}.json`)));
  });

  it.each(names)('have a history in %s without traces of the machine that recorded it', (name) => {
    const text = plainText(readFileSync(join(folder, name), 'utf8'));
    for (const word of ['stackTrace', hostname()]) expect(text).not.toContain(word);
    expect(text, 'the name of a process').not.toMatch(/\d+@/);
    expect(text, 'the path of a file').not.toMatch(/(?<![\w.:/~-])(?:\/[\w.-]+){2,}/);
  });

  describe('unchanged', () => {
    const errors = replayErrors('workflows/index.ts', names);

    it.each(names)('replay %s', (name) => {
      expect(errors.has(name)).toBe(true);
      expect(errors.get(name)).toBeUndefined();
    });
  });
});

describe('a changed workflow', () => {
  const negativeControls = [
    'success',
    'real-run',
    'session-stop',
    'session-asleep-stop',
    'real-session',
  ].map((name) => `${name}.json`);
  const errors = replayErrors('test/fixtures/changed-workflow/index.ts', negativeControls);

  it.each(negativeControls)('fails the replay of %s', (name) => {
    expect(String(errors.get(name))).toContain('TMPRL1100');
  });
});

/** The history with decoded payloads. */
const plainText = (json: string): string =>
  json.replaceAll(/"(?:data|encoding)": "([^"]*)"/g, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString(),
  );

/** Replays histories in one worker before the tests. Maps each to its error or undefined. */
function replayErrors(workflowsPath: string, files: string[]): Map<string, unknown> {
  const errors = new Map<string, unknown>();
  beforeAll(async () => {
    ensureTemporalRuntime();
    const workflowBundle = await testBundle(join(repository, workflowsPath));
    const histories = files.map((workflowId) => ({ workflowId, history: historyIn(workflowId) }));
    const results = Worker.runReplayHistories({ workflowBundle }, histories);
    for await (const { workflowId, error } of results) errors.set(workflowId, error);
  });
  return errors;
}

function historyIn(name: string) {
  return historyFromJSON(JSON.parse(readFileSync(join(folder, name), 'utf8')));
}
