// Names that change and answers that are lost, with the client and the real API.

import { expect, test } from 'vitest';
import type { Retry } from '../../../client/http/http.ts';
import { Flowrun, NotFound, ValidationError } from '../../../client/index.ts';
import { useTenant } from '../api/use-api.ts';

const { fixture, api } = useTenant();

async function newClient() {
  const tenant = await fixture.tenant({ flow: { name: 'writer' } });
  const paths: string[] = [];
  const lost = new Set<string>();
  const retries: Retry[] = [];
  const flowrun = new Flowrun({
    url: api.url,
    key: tenant.key,
    async fetch(address, init) {
      const method = init?.method ?? 'GET';
      const response = await fetch(address, init);
      paths.push(`${method} ${new URL(response.url).pathname}`);
      if (lost.delete(method)) throw new TypeError('The answer was lost.');
      return response;
    },
    onRetry: (retry) => retries.push(retry),
  });
  const createFlow = () =>
    fixture.stores.flows.create({ projectId: tenant.projectId, name: 'writer' });
  /** Loses the answer to the next request with this method. */
  const loseAnswer = (method: string) => void lost.add(method);
  return { ...tenant, flowrun, paths, retries, createFlow, loseAnswer };
}

test('remembers the ID of a name', async () => {
  const { flowrun, flowId, paths } = await newClient();
  for (const prompt of ['One', 'Two']) {
    const { record } = await flowrun.run('writer', { prompt });
    expect(record.flowId).toBe(flowId);
  }
  expect(paths.filter((path) => path === 'GET /api/v1/flows')).toHaveLength(1);
});

test('rejects a name that several flows have, with their IDs', async () => {
  const { flowrun, flowId, createFlow } = await newClient();
  const other = await createFlow();
  const running = flowrun.run('writer', { prompt: 'Go' });
  await expect(running).rejects.toBeInstanceOf(ValidationError);
  await expect(running).rejects.toThrow(flowId);
  await expect(running).rejects.toThrow(other.flowId);
  expect((await flowrun.run(other.flowId, { prompt: 'Go' })).record.flowId).toBe(other.flowId);
});

test('uses the flow that has the name after the known one was archived', async () => {
  const { flowrun, flowId, createFlow } = await newClient();
  await flowrun.run('writer', { prompt: 'Go' });
  await fixture.stores.flows.archive(flowId, true);
  await expect(flowrun.run('writer', { prompt: 'Go' })).rejects.toBeInstanceOf(NotFound);
  const next = await createFlow();
  expect((await flowrun.run('writer', { prompt: 'Go' })).record.flowId).toBe(next.flowId);
  await fixture.stores.flows.archive(next.flowId, true);
  const last = await createFlow();
  expect((await flowrun.session('writer')).flowId).toBe(last.flowId);
  await flowrun.flowFiles('writer').replace([{ path: 'a', content: 'a' }]);
  expect(await flowrun.flowFiles(last.flowId).readText('a')).toBe('a');
});

test('the path of a file leads to no other route', async () => {
  const { flowrun, flowId, paths } = await newClient();
  const run = await flowrun.run(flowId, { prompt: 'Go' });
  const sent = paths.length;
  for (const path of [`../../../runs/${run.runId}`, 'a/./b', '..']) {
    await expect(flowrun.flowFiles(flowId).delete(path)).rejects.toThrow('must not contain');
    await expect(flowrun.flowFiles(flowId).readText(path)).rejects.toThrow('must not contain');
    await expect(run.files.readText(path)).rejects.toThrow('must not contain');
  }
  expect(paths.slice(sent)).toEqual([]);
});

test('deletes once if the answer gets lost, and finds nothing to delete after that', async () => {
  const { flowrun, paths, retries, loseAnswer } = await newClient();
  const run = await flowrun.run('writer', { prompt: 'Go' });
  loseAnswer('DELETE');
  expect(await run.delete()).toMatchObject({ runId: run.runId, deleted: true });
  expect(retries.map(({ method }) => method)).toEqual(['DELETE']);
  expect(paths.filter((path) => path.startsWith('DELETE '))).toHaveLength(2);
  await expect(run.delete()).rejects.toBeInstanceOf(NotFound);

  const session = await flowrun.session('writer');
  loseAnswer('DELETE');
  await session.end();
});
