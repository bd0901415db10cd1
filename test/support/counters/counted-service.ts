import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../dev/stack/ports.ts';
import { connectTemporal } from '../../../systems/temporal/connect.ts';
import { type Service, startService } from '../service.ts';
import { stackEnv } from '../stack-env.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import { openTcpTap, type TcpTap } from './tcp-tap.ts';
import type { TemporalClient } from './temporal-actions.ts';

const fixtures = new URL('../../fixtures/', import.meta.url).pathname;

export interface CountedService {
  service: Service;
  log: CallLog;
  temporal: TemporalClient;
  close(): Promise<void>;
}

/** An interval longer than a test, and the one that pause-on-signal.ts recognizes. */
const never = '3599999';

interface CountedServiceOptions {
  /** The Postgres server. */
  postgresUrl: string;
  /** Names of fixtures to load before each program of the service. */
  preload?: readonly string[];
}

/**
 * The service with taps in front of Postgres and the engine. Its periodic work is off. Its agent
 * calls the model once per turn, and prints each turn in one write.
 */
export async function startCountedService({
  postgresUrl,
  preload = [],
}: CountedServiceOptions): Promise<CountedService> {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'tap-'));
  const log = createCallLog();
  const [postgres, docker] = await Promise.all([
    tapPostgres(postgresUrl, log),
    tapDocker(folder, log),
  ]);
  const temporal = connectTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
  });
  const imports = ['pause-on-signal.ts', ...preload].map((name) => `--import=${fixtures}${name}`);
  const service = await startService({
    env: {
      LOG_LEVEL: 'info',
      NODE_OPTIONS: imports.join(' '),
      RECONCILE_EVERY_MS: never,
      LEASE_MS: never,
      SESSION_PAUSE_AFTER_MS: never,
    },
    flow: {
      secrets: {
        env: { SCRIPTED_OUTPUT: 'at once', SCRIPTED_MODEL: 'per message' },
        mcpServers: {},
      },
    },
    on: {
      postgresUrl: postgres.address,
      dockerHost: docker.address,
    },
  });
  return {
    service,
    log,
    temporal: temporal.client,
    async close() {
      await service.stop();
      await Promise.all([postgres.tap.close(), docker.tap.close(), temporal.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Tapped {
  /** Of the dependency through the tap. */
  address: string;
  tap: TcpTap;
}

async function tapPostgres(url: string, { onPostgresConnection }: CallLog): Promise<Tapped> {
  const tapped = new URL(url);
  const to = { host: tapped.hostname, port: Number(tapped.port || 5432) };
  const listen = { host: '127.0.0.1', port: await freePort() };
  tapped.hostname = listen.host;
  tapped.port = String(listen.port);
  const tap = await openTcpTap({ listen, to, onConnection: onPostgresConnection });
  return { address: tapped.href, tap };
}

async function tapDocker(folder: string, { onDockerConnection }: CallLog): Promise<Tapped> {
  const path = join(folder, 'docker.sock');
  const to = { path: stackEnv.dockerHost.replace(/^unix:\/\//, '') };
  const tap = await openTcpTap({ listen: { path }, to, onConnection: onDockerConnection });
  return { address: `unix://${path}`, tap };
}
