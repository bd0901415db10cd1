import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture();
});
beforeEach(() => restartStopped(fixture.service));
afterAll(() => fixture?.stop());

const given = (path: string, content: string) => ({ path, content, encoding: 'utf8' });

describe('a working directory whose worker dies', { timeout: 240_000 }, () => {
  it.each(['start.seeded', 'start.running'] as const)(
    'at %s is seeded completely, and never again over the agent’s changes',
    async (name) => {
      const { service } = fixture;
      await restartWithFailpoint(service.worker, name);
      const files = [
        given('a', 'given'),
        given('.flowignore', '*'),
        given('dir/b', 'x'.repeat(1e6)),
      ];
      const shell = 'cat a > seen; wc -c < dir/b >> seen; echo changed > a; rm dir/b';
      const prompt = script([{ shell }, { say: 'done' }, { sleepMs: 3_000 }]);
      const { runId } = await service.trigger({ prompt, files });
      await restartAfterFailpoint(service.worker);
      expect(await service.untilEnded(runId, 120_000)).toMatchObject({ exitCode: 0 });
      const read = async (path: string) =>
        (await service.call('GET', `/runs/${runId}/files/${path}`)).body;
      expect(await read('seen')).toBe('given1000000\n');
      expect(await read('a')).toBe('changed\n');
      expect((await service.call('GET', `/runs/${runId}/files/dir/b`)).status).toBe(404);
    },
  );
});
