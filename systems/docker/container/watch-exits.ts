// The engine's events, as a hint to inspect a container sooner. They are lost while the connection
// is down, so nothing may depend on them. Reconnects until closed, and reports that, because a
// container may have exited meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';

export interface ExitHint {
  containerId: string;
  runId: string;
}

export interface ExitObserver {
  onExit(hint: ExitHint): void;
  onReconnect(): void;
}

export interface Watch {
  close(): void;
}

const reconnectMs = 1_000;

export function watchExits(engine: Engine, observer: ExitObserver): Watch {
  const closed = new AbortController();
  void watchUntil(closed.signal, engine, observer);
  return { close: () => closed.abort() };
}

async function watchUntil(
  closed: AbortSignal,
  engine: Engine,
  { onExit, onReconnect }: ExitObserver,
): Promise<void> {
  let onConnect = (): void => undefined;
  while (!closed.aborted) {
    const lost = readEvents(closed, engine, { onExit, onConnect });
    await lost.catch(() => {}); // reconnects below
    onConnect = onReconnect;
    await sleep(reconnectMs, null, { signal: closed }).catch(() => {});
  }
}

async function readEvents(
  closed: AbortSignal,
  { docker, instance }: Engine,
  { onExit, onConnect }: { onExit(hint: ExitHint): void; onConnect(): void },
): Promise<void> {
  const filters = { event: ['die'], label: [`${labelNames.instance}=${instance}`] };
  const options = { filters, abortSignal: closed };
  const stream = await docker.getEvents(options);
  onConnect();
  stream.setEncoding('utf8');
  let rest = '';
  for await (const text of stream) {
    const lines = `${rest}${String(text)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const hint = readHint(line);
      if (hint !== null) onExit(hint);
    }
  }
}

function readHint(line: string): ExitHint | null {
  const event = JSON.parse(line) as DieEvent; // documented by the engine
  const containerId = event.Actor?.ID;
  const runId = event.Actor?.Attributes?.[labelNames.run];
  return containerId === undefined || runId === undefined ? null : { containerId, runId };
}

interface DieEvent {
  Actor?: { ID?: string; Attributes?: Record<string, string> };
}
