import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { callSocket } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

it('closes every connection of every run when blocked, and accepts connections when unblocked', async () => {
  let requests = 0;
  const first = await serveRun({
    handlers: {
      nextMessage: (_after, signal) => {
        requests += 1;
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'none' })),
        );
      },
    },
  });
  const second = await serveRun({ sameHostAs: first });
  expect(statSync(first.socketPath).mode & 0o666, 'for the sandbox’s user').toBe(0o666);
  const waiting = callSocket(first.socketPath, { path: '/control/messages?after=0' });
  waiting.catch(() => undefined); // checked below
  await expect.poll(() => requests).toBe(1);

  const config = () => callSocket(second.socketPath, { path: '/control/config' });
  first.egress.block();
  await expect(waiting).rejects.toThrow();
  await expect(config()).rejects.toThrow();
  first.egress.unblock();
  expect(await config()).toMatchObject({ status: 410 });
});
