import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { callSocket, sendRaw } from '../../../support/socket-client.ts';
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
  const held: Socket[] = [];
  onTestFinished(() => held.forEach((socket) => socket.destroy()));
  for (let n = 1; n < limits.control.connectionsMax; n += 1) {
    const socket = connect(socketPath);
    held.push(socket);
    await once(socket, 'connect');
  }
  const last = await sendRaw(socketPath, 'GET /control/config HTTP/1.1\r\nhost: a\r\n\r\n');
  held.push(last.socket);
  expect(last.status).toBe(410);
  await expect(status(socketPath)).rejects.toThrow();
  held[0]?.destroy();
  await expect.poll(() => status(socketPath).catch(() => null)).toBe(410);
});
