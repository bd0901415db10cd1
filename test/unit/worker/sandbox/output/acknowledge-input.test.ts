import { expect, test } from 'vitest';
import { readAgentLine } from '../../../../../core/agent/agent-line.ts';
import { createInputQueue } from '../../../../../worker/sandbox/input/input-queue.ts';
import { acknowledgeInput } from '../../../../../worker/sandbox/output/acknowledge-input.ts';

test('100 messages of 1 MiB, each reported as started, leave none in memory', async () => {
  const input = createInputQueue(null);
  for (let index = 1; index <= 100; index += 1) {
    const uuid = `message-${index}`;
    input.sendMessage(uuid, 'x'.repeat(1024 * 1024));
    expect(await input.next(index - 1, AbortSignal.timeout(1_000))).toMatchObject({ index });
    const started = { type: 'command_lifecycle', command_uuid: uuid, state: 'started' };
    acknowledgeInput(input, readAgentLine(JSON.stringify(started)).facts);
  }
  expect(await input.next(0, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
});
