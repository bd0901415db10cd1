import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { testBundle } from '../support/test-bundle.ts';

const folder = new URL('../histories/', import.meta.url).pathname;
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

describe('the workflows as they are', () => {
  it('have a history of every ending to answer for', () => {
    const endings = ['success', 'failed-exit', 'stop', 'delete', 'cancel', 'time-limit'];
    const losses = ['sandbox-lost', 'host-lost', 'start-failed', 'no-capacity'];
    const wanted = [...endings, ...losses, 'webhook-retried'].map((name) => `${name}.json`);
    expect(names).toEqual(expect.arrayContaining(wanted));
  });

  it.each(names)('replay %s', async (name) => {
    await replay(name, 'workflows/index.ts');
  });
});

describe('a changed workflow', () => {
  it('is caught by the replay', async () => {
    const changed = 'test/fixtures/changed-workflow/index.ts';
    await expect(replay('success.json', changed)).rejects.toThrow('TMPRL1100');
  });
});

async function replay(name: string, workflowsPath: string): Promise<void> {
  const workflowBundle = await testBundle(
    new URL(`../../${workflowsPath}`, import.meta.url).pathname,
  );
  const history = historyFromJSON(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  await Worker.runReplayHistory({ workflowBundle, replayName: name }, history);
}
