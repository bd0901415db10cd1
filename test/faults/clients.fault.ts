// The story of test/system/clients.test.ts with all clients at the same time: each stream is cut
// 500 times, and the API is killed 50 times meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientNames } from '../support/clients/client-story.ts';
import { startCutStory } from '../support/clients/cut-story.ts';
import { type Service, startService } from '../support/service.ts';

const cutsMax = 500;
const killsMax = 50;
/** Enough short lines that the last cut is still before their end. */
const factor = 100;

let service: Service;
beforeAll(async () => {
  service = await startService({ flow: { name: 'writer' } });
}, 240_000);
afterAll(() => service?.stop());

it('yield the log, and answer and chat as before, over cuts and killed APIs', {
  timeout: 45 * 60_000,
}, async () => {
  const { promise: killed, resolve: setKilled } = Promise.withResolvers<void>();
  const options = { cutsMax, factor, beforeQuestion: killed };
  const stories = await Promise.all(
    clientNames.map((client) => startCutStory(service, { client, ...options })),
  );
  const ended = Promise.all(stories.map((story) => story.ended));
  const cuts = () => Math.min(...stories.map((story) => story.cuts()));
  const untilCuts = async (count: number) => {
    while (cuts() < count) await sleep(50);
  };

  async function kill(): Promise<number> {
    let kills = 0;
    while (kills < killsMax) {
      await untilCuts(1 + (kills * cutsMax) / (killsMax + 1));
      await service.api.kill('SIGKILL');
      kills += 1;
      await service.api.start();
    }
    setKilled();
    return kills;
  }
  const [kills] = await Promise.all([Promise.race([kill(), ended.then(() => 0)]), ended]);
  expect(kills).toBe(killsMax);
});
