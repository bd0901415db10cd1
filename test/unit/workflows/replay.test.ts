import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { testBundle } from '../../support/test-bundle.ts';

const folder = join(repository, 'test/histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

describe('the workflows', () => {
  it('have a recorded history of every outcome', () => {
    const endings = ['success', 'failed-exit', 'stop', 'delete', 'cancel', 'time-limit'];
    const losses = ['sandbox-lost', 'host-lost', 'start-failed', 'no-capacity'];
    const sessions = ['session-stop', 'session-sleep', 'session-interrupted', 'session-lost'];
    const real = ['real-run', 'real-session'];
    const required = [...endings, ...losses, 'webhook-retried', ...sessions, ...real];
    expect(names).toEqual(expect.arrayContaining(required.map((name) => `${name}.json`)));
  });

  it.each(names)('have a history in %s without traces of the machine that recorded it', (name) => {
    const text = plainText(readFileSync(join(folder, name), 'utf8'));
    for (const word of ['stackTrace', hostname()]) expect(text).not.toContain(word);
    expect(text, 'the name of a process').not.toMatch(/\d+@/);
    expect(text, 'the path of a file').not.toMatch(/(?<![\w.:/~-])(?:\/[\w.-]+){2,}/);
  });

  it.each(names)('replay %s', async (name) => {
    await replay(name, 'workflows/index.ts');
  });
});

describe('a changed workflow', () => {
  const negativeControls = [
    'success',
    'real-run',
    'session-stop',
    'session-asleep-stop',
    'real-session',
  ];
  it.each(negativeControls)('fails the replay of %s', async (name) => {
    const changed = 'test/fixtures/changed-workflow/index.ts';
    await expect(replay(`${name}.json`, changed)).rejects.toThrow('TMPRL1100');
  });
});

/** The history with decoded payloads. */
const plainText = (json: string): string =>
  json.replaceAll(/"(?:data|encoding)": "([^"]*)"/g, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString(),
  );

async function replay(name: string, workflowsPath: string): Promise<void> {
  const workflowBundle = await testBundle(join(repository, workflowsPath));
  const history = historyFromJSON(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  await Worker.runReplayHistory({ workflowBundle, replayName: name }, history);
}
