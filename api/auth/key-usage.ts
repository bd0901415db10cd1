// Every call with a live key is counted: at its coming, and at its end with how it ended. Counts are
// gathered in this process and added to the day's row every few seconds, all keys together. What was
// not written yet is lost with the process, and nothing else.

import { dayOf, type KeyUsage } from '../../core/agent/usage.ts';
import { limits } from '../../core/limits.ts';
import type { KeyDay, KeyUsageStore } from '../../systems/postgres/accounts/key-usage-store.ts';
import type { App } from '../app-types.ts';
import { onResponseClose } from '../http/on-response-close.ts';

export interface UsageCounter {
  record: (keyId: string, more: Partial<KeyUsage>) => void;
  /** Writes down what is left. */
  close: () => Promise<void>;
}

export interface UsageCounterDeps {
  keyUsage: Pick<KeyUsageStore, 'add' | 'forget'>;
  now: () => Date;
  onError: (error: unknown) => void;
}

export function createUsageCounter({ keyUsage, now, onError }: UsageCounterDeps): UsageCounter {
  let gathered = new Map<string, KeyDay>();
  let writing = Promise.resolve();
  let forgottenOn = '';

  function gather(more: KeyDay): void {
    const place = `${more.keyId}/${more.day}`;
    const before = gathered.get(place) ?? nothing;
    gathered.set(place, {
      ...more,
      calls: before.calls + more.calls,
      errors: before.errors + more.errors,
      durationMs: before.durationMs + more.durationMs,
    });
  }

  async function write(): Promise<void> {
    const entries = [...gathered.values()];
    gathered = new Map();
    try {
      if (entries.length > 0) await keyUsage.add(entries);
    } catch (error) {
      for (const entry of entries) gather(entry);
      onError(error);
    }
  }

  /** Once a day, and by every process: it is cheap, and harmless to repeat. */
  async function forgetOldDays(): Promise<void> {
    const day = dayOf(now());
    if (day === forgottenOn) return;
    forgottenOn = day;
    await keyUsage.forget().catch(onError);
  }

  const timer = setInterval(() => {
    writing = writing.then(write).then(forgetOldDays);
  }, limits.keyUsageEveryMs);
  timer.unref();
  return {
    record: (keyId, more) => gather({ ...nothing, ...more, keyId, day: dayOf(now()) }),
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}

const nothing: KeyUsage = { calls: 0, errors: 0, durationMs: 0 };

/**
 * A call that is refused for its rate counts too. How long a stream is held open says nothing about
 * the service, so it is left out of the duration.
 */
export function countUsage(app: App, counter: UsageCounter): void {
  app.addHook('onRequest', async ({ caller }) => {
    if (caller !== null) counter.record(caller.key.keyId, { calls: 1 });
  });
  onResponseClose(app, ({ caller, routeOptions }, reply) => {
    if (caller === null) return;
    const isStream = routeOptions.config.isStream === true;
    counter.record(caller.key.keyId, {
      errors: reply.statusCode >= 400 ? 1 : 0,
      durationMs: isStream ? 0 : reply.elapsedTime,
    });
  });
}
