import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import type { Denial } from '../../../../worker/egress/connect-proxy.ts';
import {
  createEgress,
  type Egress,
  type EgressDeps,
  type EgressHandlers,
} from '../../../../worker/egress/run-listener.ts';

interface ServedRun {
  socketPath: string;
  egress: Egress;
  denials: (Denial & { count: number })[];
  close(): Promise<void>;
}

/** The listener of a run, closed after the test. */
export async function serveRun({
  deps = {},
  handlers = {},
  sameHostAs,
  at,
}: {
  deps?: Partial<EgressDeps>;
  handlers?: Partial<EgressHandlers>;
  /** A listener of another run of the same host with the same `deps`. */
  sameHostAs?: ServedRun;
  /** The path of an existing socket to replace. */
  at?: string;
}): Promise<ServedRun> {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'));
  const egress = sameHostAs?.egress ?? createEgress({ ...noNetwork, ...deps });
  const denials: ServedRun['denials'] = [];
  const socketPath = at ?? join(folder, 'x');
  const run = await egress.listen(socketPath, {
    logger: pino({ enabled: false }),
    policy: { policy: 'limited', hosts: [] },
    agentToken: null,
    projectModel: () => Promise.resolve(null),
    meter: { open: async () => ({ outcome: 'opened', call: unmeteredCall }) },
    mayUseHostModel: () => Promise.resolve(true),
    onModelCallRefused: () => undefined,
    config: () => Promise.resolve(null),
    acknowledge: () => Promise.resolve(true),
    nextMessage: () => Promise.resolve({ kind: 'none' }),
    exited: () => {},
    onDenied: (denial) => void denials.push(denial),
    ...handlers,
  });
  onTestFinished(async () => {
    await run.close();
    if (!sameHostAs) await egress.close();
    await rm(folder, { recursive: true });
  });
  return { socketPath, egress, denials, close: () => run.close() };
}

const unmeteredCall = {
  answered: () => undefined,
  read: () => undefined,
  end: () => undefined,
};

const noNetwork: EgressDeps = {
  modelUpstream: { apiKey: 'operator-key', baseUrl: 'http://127.0.0.1:9' },
  apiUrl: 'http://127.0.0.1:9',
  allowPrivate: [],
  lookup: () => Promise.reject(new Error('no resolver in this test')),
  connect: () => Promise.reject(new Error('no connections in this test')),
};
