import { getEventListeners } from 'node:events';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { logFirstSignInLink } from '../../../../api/operators/sign-in/first-sign-in.ts';
import { createLogger } from '../../../../config/logger.ts';

test('shutdown ends the wait for an unavailable database, even if it came just before the wait', async () => {
  const stopping = new AbortController();
  const audit = {
    async changeAs(): Promise<never> {
      stopping.abort();
      throw new Error('the database is unavailable');
    },
  };
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const logger = createLogger({ level: 'warn', name: 'test' }, discard);
  const startedAt = performance.now();
  await logFirstSignInLink(
    { audit, publicUrl: 'http://a', firstOperator: 'ana', logger },
    stopping.signal,
  );
  expect(performance.now() - startedAt).toBeLessThan(4_500);
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
});
