import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';

const waitingMs = 30_000;

let service: Service;
beforeAll(async () => {
  const env = { HOST_CAPACITY: '1', NO_CAPACITY_TIMEOUT_MS: String(waitingMs) };
  service = await startService({ env });
}, 240_000);
afterAll(() => service?.stop());

const waitForRelease = script([{ say: 'working' }, { waitForFile: 'go-on' }]);

async function occupySlot(): Promise<string> {
  const { runId } = await service.trigger({ prompt: waitForRelease });
  await untilWorking(service, { runId });
  return runId;
}

describe('a run that finds every slot occupied', { timeout: 180_000 }, () => {
  it('is admitted, and starts when a slot is free', async () => {
    const first = await occupySlot();
    const { runId } = await service.trigger({ prompt: script([{ say: 'my turn' }]) });
    releaseAgent(service, first);
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'my turn' });
  });

  it('ends with `no capacity` if no slot becomes free in time', async () => {
    const first = await occupySlot();
    const { runId } = await service.trigger({ prompt: script([{ say: 'never' }]) });
    const events = await collect(service.stream(runId));
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ reason: 'no_upstream' });
    expect(await service.untilEnded(runId)).toMatchObject({
      status: 'sleep',
      startedAt: null,
      error: 'container_start_failed: no capacity',
    });
    releaseAgent(service, first);
    expect(await service.untilEnded(first)).toMatchObject({ exitCode: 0 });
  });
});
