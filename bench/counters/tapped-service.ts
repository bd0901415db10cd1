import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { openDocker } from '../../systems/docker/open-docker.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { createDockerCounter } from './docker-counter.ts';
import { createPostgresCounter, type StatementCount } from './postgres-counter.ts';
import { openTcpTap } from './tcp-tap.ts';

export interface TappedService {
  service: Service;
  /** An address that bypasses the tap, so that the observer's own calls are not counted. */
  sandboxes: Sandboxes;
  now(): Counts;
  close(): Promise<void>;
}

export interface Counts {
  api: StatementCount;
  worker: StatementCount;
  docker: Record<string, number>;
}

/** The service with taps in front of Postgres and the engine. */
export async function startTappedService(): Promise<TappedService> {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'tap-'));
  const docker = createDockerCounter();
  const socket = join(folder, 'docker.sock');
  const dockerTap = await openTcpTap({
    listen: { path: socket },
    to: { path: stackEnv.dockerHost.replace(/^unix:\/\//, '') },
    onConnection: docker.onConnection,
  });

  const postgres = createPostgresCounter();
  const direct = new URL(stackEnv.postgresUrl);
  const tapped = new URL(direct);
  tapped.hostname = '127.0.0.1';
  tapped.port = String(await freePort());
  const postgresTap = await openTcpTap({
    listen: { host: tapped.hostname, port: Number(tapped.port) },
    to: { host: direct.hostname, port: Number(direct.port || 5432) },
    onConnection: postgres.onConnection,
  });

  const service = await startService({
    env: { LOG_LEVEL: 'info' },
    on: { postgresUrl: tapped.href, dockerHost: `unix://${socket}` },
  });
  const { instance } = service;
  const { sandboxes } = openDocker({ dockerHost: stackEnv.dockerHost, instance });
  return {
    service,
    sandboxes,
    now: () => ({
      api: { ...postgres.of(`${instance}-api`) },
      worker: { ...postgres.of(`${instance}-worker`) },
      docker: docker.counts(),
    }),
    async close() {
      await service.stop();
      await Promise.all([dockerTap.close(), postgresTap.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
