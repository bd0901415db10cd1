import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { callSocket } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

const status = async (socketPath: string): Promise<number> =>
  (await callSocket(socketPath, { path: '/control/config' })).status;

it('replaces the previous socket, and stays when the previous listener is closed', async () => {
  const before = await serveRun({});
  const { socketPath } = before;
  const after = await serveRun({ at: socketPath });
  expect(await status(socketPath)).toBe(410);
  await before.close();
  expect(await status(socketPath)).toBe(410);
  expect(readdirSync(dirname(socketPath))).toEqual(['x']);
  await after.close();
  await expect(status(socketPath)).rejects.toThrow();
});
