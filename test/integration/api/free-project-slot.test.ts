// When a project is at its cap, its longest-idle session is put to sleep, but only while a request
// waits for the slot.

import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { limits } from '../../../core/limits.ts';
import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { caller } from './call.ts';
import { type SessionWorker, sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, open, chatOf } = useSessions();
let tenant: Tenant;
let idle: { runId: string; worker: SessionWorker };

/** A project whose only slot is occupied by an idle session. */
beforeEach(async () => {
  tenant = await fixture.tenant({ maxConcurrentRuns: 1 });
  const { sessionId, runId } = await open(tenant);
  const worker = sessionWorker(fixture, runId);
  idle = { runId, worker };
  expect((await chatOf(tenant)({ message: 'x', sessionId })).status).toBe(202);
  await worker.begin();
  await worker.end('Done.');
});

interface Watched extends ApiProcess {
  /** How often it has checked whether the session sleeps. */
  looks: () => number;
}

/** A process whose sessions are asked to sleep, and react as `onLook` defines. */
async function startWatched(onLook: () => void): Promise<Watched> {
  let looks = 0;
  const find: ApiDeps['runs']['find'] = async (runId) => {
    if (runId === idle.runId) {
      looks += 1;
      onLook();
    }
    return fixture.stores.runs.find(runId);
  };
  const own = await fixture.start({ runs: { ...fixture.stores.runs, find } });
  return { ...own, looks: () => looks };
}

const requests = {
  'a run': () => ({ path: `/api/v1/flows/${tenant.flowId}/runs`, body: { prompt: 'Go' } }),
  'a message': () => ({ path: `/api/v1/flows/${tenant.flowId}/chat`, body: { message: 'Go' } }),
};

describe.each(Object.entries(requests))('for %s', (_name, request) => {
  test('evicts an idle session and starts', async () => {
    let asleep: Promise<void> | undefined;
    const own = await startWatched(() => {
      asleep ??= idle.worker.sleep();
    });
    const { path, body } = request();
    expect([201, 202]).toContain((await caller(own, tenant.key)(path, { body })).status);
    await asleep;
  });

  test('stops waiting when the service stops', async () => {
    let closing: Promise<void> | undefined;
    const own = await startWatched(() => {
      closing ??= own.close();
    });
    const { path, body } = request();
    const { status, json, headers } = await caller(own, tenant.key)(path, { body });
    expect([status, json.error]).toMatchObject([429, { code: 'CONCURRENT_LIMIT', limit: 1 }]);
    expect(headers.get('connection')).toBe('close');
    await closing;
    expect(own.looks()).toBeLessThan(few);
  });

  test('stops waiting and starts nothing when the client disconnects', async () => {
    const left = new AbortController();
    const own = await startWatched(() => left.abort());
    const { path, body } = request();
    const call = fetch(`${own.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: left.signal,
    });
    await expect(call).rejects.toThrow();
    await expect.poll(own.log).toMatch(/"msg":"(run|message)_rejected"/);
    expect(own.looks()).toBeLessThan(few);
  });
});

/** Half of the polls until the timeout. */
const few = limits.eviction.timeoutMs / limits.eviction.pollMs / 2;
