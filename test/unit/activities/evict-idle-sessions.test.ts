import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSlotAssigner } from '../../../activities/assign-slots.ts';
import { createIdleEvictor } from '../../../activities/evict-idle-sessions.ts';
import type { Eviction } from '../../../systems/postgres/admission/evictable-session.ts';

const session = (): Eviction => ({
  waitingRunId: 'waits',
  runId: randomUUID(),
  workflowId: `session/${randomUUID()}`,
  requestId: null,
  hostId: 'h',
});

describe('an idle session of a full host', () => {
  let idle: Eviction;
  let others: Eviction[] = [];
  let signalled: string[] = [];
  let isAway = false;
  let at = 0;
  beforeEach(() => {
    idle = session();
    others = [];
    signalled = [];
    isAway = false;
    at = 0;
  });

  const admission = {
    findEvictableOnHosts: async () => [idle, ...others],
    assignWaiting: async () => [],
    findUnclaimed: async () => [],
  };
  const temporal = {
    async signalSleep(workflowId: string) {
      if (isAway && workflowId === idle.workflowId) throw new Error('away');
      signalled.push(workflowId);
    },
    signalSlotAssigned: async () => {},
    signalWork: async () => {},
  };
  const deps = { admission, temporal, now: () => new Date(at), logger: pino({ enabled: false }) };
  const evictor = () => createIdleEvictor(deps);

  it('is put to sleep by one signal, and by another one after the retry delay', async () => {
    const evict = evictor();
    for (const ms of [0, 5_000, 9_999]) {
      at = ms;
      await evict(null);
    }
    expect(signalled).toEqual([idle.workflowId]);
    at = 10_000;
    await evict(null);
    expect(signalled).toHaveLength(2);
    idle = session();
    await evict(null);
    expect(signalled[2]).toBe(idle.workflowId);
  });

  it('is put to sleep again at once if it has worked since', async () => {
    const evict = evictor();
    await evict(idle.runId);
    await evict(randomUUID());
    expect(signalled).toEqual([idle.workflowId]);
    await evict(idle.runId);
    expect(signalled).toEqual([idle.workflowId, idle.workflowId]);
  });

  it('is signalled again at the next call if the signal failed', async () => {
    const evict = evictor();
    isAway = true;
    await expect(evict(null)).rejects.toThrow('away');
    isAway = false;
    await evict(null);
    expect(signalled).toHaveLength(1);
  });

  it('keeps no other session from being put to sleep if its signal failed', async () => {
    others = [session(), session()];
    isAway = true;
    await expect(evictor()(null)).rejects.toThrow('away');
    expect(signalled).toEqual(others.map(({ workflowId }) => workflowId));
  });

  it('is put to sleep again at the end of each turn, and a failed signal does not fail it', async () => {
    const slots = createSlotAssigner(deps);
    await slots.evictAfter(idle.runId);
    await slots.evictAfter(idle.runId);
    expect(signalled).toEqual([idle.workflowId, idle.workflowId]);
    isAway = true;
    await slots.evictAfter(idle.runId);
    expect(signalled).toHaveLength(2);
  });
});
