import { readdirSync, readFileSync } from 'node:fs';
import { WebSocket } from 'undici';
import { freePort } from '../../support/free-port.ts';
import type { ServiceProcess } from '../../support/service-process.ts';

/** A process whose memory can be looked at. */
export interface Inspected {
  /** Bytes of live objects, after a collection. */
  heap(): Promise<number>;
  residentBytes(): number;
  descriptors(): number;
}

/** Starts it anew, so that its heap can be asked for. */
export async function inspect(process: ServiceProcess): Promise<Inspected> {
  const port = await freePort();
  await process.kill('SIGTERM');
  await process.start({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` });
  const pid = process.pid();
  return {
    heap: () => heapOf(port),
    residentBytes: () => residentBytes(pid),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
  };
}

function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}

async function heapOf(port: number): Promise<number> {
  const targets = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  try {
    await ask(socket, 'HeapProfiler.collectGarbage');
    const { usedSize } = await ask<{ usedSize: number }>(socket, 'Runtime.getHeapUsage');
    return usedSize;
  } finally {
    socket.close();
  }
}

function ask<T>(socket: WebSocket, method: string): Promise<T> {
  return new Promise((resolve) => {
    socket.addEventListener(
      'message',
      ({ data }) => resolve((JSON.parse(String(data)) as { result: T }).result),
      { once: true },
    );
    socket.send(JSON.stringify({ id: 1, method }));
  });
}
