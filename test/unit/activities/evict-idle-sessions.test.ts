import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
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
  let signalled: string[] = [];
  let isAway = false;
  let at = 0;
  beforeEach(() => {
    idle = session();
    signalled = [];
    isAway = false;
    at = 0;
  });

  const evictor = () =>
    createIdleEvictor({
      admission: { findEvictableOnHosts: async () => [idle] },
      temporal: {
        async signalSleep(workflowId) {
          if (isAway) throw new Error('away');
          signalled.push(workflowId);
        },
      },
      now: () => new Date(at),
      logger: pino({ enabled: false }),
    });

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
});
