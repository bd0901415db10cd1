import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../../../../core/limits.ts';
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

it('closes the connection beyond the limit, and accepts another when one has ended', async () => {
  const { socketPath } = await serveRun({});
  const open = async () => {
    const socket = connect(socketPath);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const held = [];
  for (let n = 1; n < limits.control.connectionsMax; n += 1) held.push(await open());
  expect(await status(socketPath)).toBe(410);
  held.push(await open());
  await expect(status(socketPath)).rejects.toThrow();
  held[0]?.destroy();
  await expect.poll(() => status(socketPath).catch(() => null)).toBe(410);
});
