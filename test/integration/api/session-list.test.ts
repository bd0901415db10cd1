import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { caller } from './call.ts';
import { idsOf, nextOf, setColumn, turnPages } from './lister.ts';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, chatOf, open, sessionsOf } = useSessions();

test('sessions are listed by flow, latest first, page by page, each once', async () => {
  const own = await fixture.tenant();
  const ask = caller(api, own.key);
  const list = sessionsOf(own);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift((await open(own)).runId);
  const { flowId } = await fixture.stores.flows.create({
    projectId: own.projectId,
    name: 'Another',
  });
  await ask(sessionsOf({ flowId }), { body: {} });
  await ask(`/api/v1/flows/${own.flowId}/runs`, { body: { prompt: 'Go' } });
  for (const limit of [1, 2, 4, 5, 200]) {
    expect(await turnPages(ask, `${list}?limit=${limit}`), `${limit}`).toEqual(ids);
  }
  const first = await ask(`${list}?limit=2`);
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  // New sessions do not shift the pages.
  await open(own);
  expect(await turnPages(ask, nextOf(first) ?? '')).toEqual(ids.slice(2));
  await ask(`/api/v1/runs/${ids[3]}`, { method: 'DELETE' });
  expect(await turnPages(ask, nextOf(first) ?? '')).toEqual([ids[2], ids[4]]);
  for (const query of refusedQueries) {
    const { status, json } = await ask(`${list}?${query}`);
    expect([query, status, json.error.code]).toEqual([query, 400, 'VALIDATION_ERROR']);
  }
});

const refusedQueries = [
  ...['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor=bm90L29uZQ', 'x=1'],
  ...['status=asleep', 'ended=yes', 'ended=', 'label=a', 'label=:b'],
];

test('sessions are filtered by status, by whether they have ended, and by labels, on every page', async () => {
  const own = await fixture.tenant();
  const ask = caller(api, own.key);
  const list = sessionsOf(own);
  const opened = async (labels: object) =>
    (await ask(list, { body: { labels } })).json.data as { sessionId: string; runId: string };
  const asleep = await opened({ team: 'core', urgent: '' });
  const over = await opened({ team: 'core' });
  const other = await opened({ team: 'edge' });
  const awake = await open(own);
  await fixture.stores.runs.endRun({
    ...{ runId: over.runId, cause: 'stopped_by_api', detail: null, exitCode: null },
  });
  await chatOf(own)({ message: 'x', sessionId: awake.sessionId });
  await sessionWorker(fixture, awake.runId).begin();
  const found = (query: string) => turnPages(ask, `${list}?limit=1&${query}`);
  expect(await found('status=running')).toEqual([awake.runId]);
  expect(await found('status=sleep')).toEqual([other.runId, over.runId, asleep.runId]);
  expect(await found('ended=true')).toEqual([over.runId]);
  expect(await found('ended=false')).toEqual([awake.runId, other.runId, asleep.runId]);
  expect(await found('status=sleep&ended=false')).toEqual([other.runId, asleep.runId]);
  expect(await found('label=team:core')).toEqual([over.runId, asleep.runId]);
  expect(await found('label=team:core&label=urgent:')).toEqual([asleep.runId]);
  expect(await found('label=team:core&ended=false')).toEqual([asleep.runId]);
  expect(await found('status=running&ended=true')).toEqual([]);
});

test('ends a page early if the results of its sessions are too long, and loses none', async () => {
  const own = await fixture.tenant();
  const ask = caller(api, own.key);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift((await open(own)).runId);
  const half = 'x'.repeat(limits.page.runsMaxBytes / 2);
  const set = setColumn(fixture);
  for (const runId of ids) await set(runId, 'result', half);
  const [latest = '', earlier = ''] = ids;
  await set(earlier, 'result', null);
  await set(earlier, 'structured_output', JSON.stringify(half.slice(2)));
  const first = await ask(`${sessionsOf(own)}?status=sleep&ended=false&limit=4`);
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  expect(nextOf(first)).toMatch(/\?status=sleep&ended=false&limit=4&cursor=/);
  const second = await ask(nextOf(first) ?? '');
  expect(idsOf(second)).toEqual(ids.slice(2, 4));
  expect(await turnPages(ask, nextOf(second) ?? '')).toEqual(ids.slice(4));
  // With one byte less, the page has not reached the size.
  await set(latest, 'result', half.slice(1));
  expect(idsOf(await ask(`${sessionsOf(own)}?limit=4`))).toEqual(ids.slice(0, 3));
});
