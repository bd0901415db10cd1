import { getEventListeners } from 'node:events';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { logFirstSignInLink } from '../../../../api/operators/first-sign-in.ts';
import { createLogger } from '../../../../config/logger.ts';

test('an order to stop ends the wait for a database that is away, also one that came just before', async () => {
  const stopping = new AbortController();
  const operators = {
    async inviteFirst(): Promise<null> {
      stopping.abort();
      throw new Error('the database is away');
    },
  };
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const logger = createLogger({ level: 'warn', name: 'test' }, nowhere);
  const from = performance.now();
  await logFirstSignInLink({ operators, publicUrl: 'http://a', logger }, stopping.signal);
  expect(performance.now() - from).toBeLessThan(4_500);
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
});
