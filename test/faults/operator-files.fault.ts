// The API dies while an operator adds a file to a running run: the sandbox never has a file of an
// operator whose entry is missing in the audit log.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { type OperatorCall, signInByFirstLink } from '../support/operator-client.ts';
import { script } from '../support/prompts.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { failpointsOf } from './support/failpoints-of.ts';

let service: Service;
let operator: OperatorCall;
let runId: string;

beforeAll(async () => {
  service = await startService();
  operator = await signInByFirstLink(service);
  ({ runId } = await service.trigger({ prompt: script([{ hang: true }]) }));
});
afterAll(() => service?.stop());

const path = (rest = '') => `/api/projects/${service.projectId}/runs/${runId}/files${rest}`;

const add = (name: string) =>
  operator('POST', path(), { body: { files: [{ path: name, content: name, encoding: 'utf8' }] } });

async function entries(): Promise<number> {
  const { rowCount } = await service.database.pool.query(
    `select from audit_log where object_id = $1 and action = 'run_files_added'`,
    [runId],
  );
  return rowCount ?? 0;
}

const isWritten = async (name: string) =>
  (await service.call('GET', `/runs/${runId}/files/${name}`)).status === 200;

it.each(failpointsOf('files'))('has one entry if the API is killed at %s', async (name) => {
  await untilWorking(service, { runId });
  const before = await entries();
  await restartWithFailpoint(service.api, name);
  await expect(add(`${name}.txt`)).rejects.toThrow();
  await restartAfterFailpoint(service.api);
  expect(await isWritten(`${name}.txt`)).toBe(true);
  expect(await entries()).toBe(before + 1);
  expect((await add(`${name}.txt`)).status).toBe(200);
  expect(await entries()).toBe(before + 2);
});

it('has one entry if the API is killed at ten other moments', async () => {
  await untilWorking(service, { runId });
  let cut = 0;
  for (let n = 0; n < 10; n += 1) {
    const before = await entries();
    const adding = add(`${n}.txt`).catch(() => null);
    await sleep(8 * n);
    await service.api.kill('SIGKILL');
    if ((await adding) === null) cut += 1;
    await service.api.start();
    await sleep(limits.hostRpc.pollMs + 1_000); // the host has written it by then, or never will
    const recorded = (await entries()) - before;
    expect(recorded).toBeLessThanOrEqual(1);
    if (await isWritten(`${n}.txt`)) expect(recorded).toBe(1);
  }
  expect(cut).toBeGreaterThan(0);
});
