// One story for all clients, through a proxy that cuts their streams. A longer one that also kills
// the API is test/faults/clients.fault.ts.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository } from '../../dev/lib/folders.ts';
import { clientNames } from '../support/clients/client-story.ts';
import { startCutStory } from '../support/clients/cut-story.ts';
import { pageOf } from '../support/pages.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ flow: { name: 'writer' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 240_000 };

it.concurrent.each(clientNames)('the client for %s tells the story', patiently, async (client) => {
  const { ended } = await startCutStory(service, { client, cutsMax: 4, factor: 1 });
  await ended;
});

it.concurrent('runs the first example of the Python page as it is', async ({ onTestFinished }) => {
  const [, example = ''] = /```python\n(.*?)```/s.exec(pageOf('docs/client-python.md')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'example-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'example.py');
  writeFileSync(program, example);
  const env = {
    FLOWRUN_URL: service.url,
    FLOWRUN_KEY: service.key,
    PYTHONPATH: join(repository, 'client-python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { stdout } = await promisify(execFile)(stackEnv.python, [program], { env });
  // This agent repeats its prompt and calls no model.
  expect(stdout).toMatch(/> Write hello\.md\n.*\nWrite hello\.md None\n$/s);
});
