import { Redis } from 'ioredis';
import { foldersOf } from '../../dev/lib/folders.ts';
import { pidOf } from '../../dev/stack/daemon.ts';
import { stackNames } from '../../dev/stack/stack-names.ts';
import { type Service, startService } from '../../test/support/service.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { RehearsalSize } from './arguments.ts';
import { countStatements, type StatementCounts } from './count-statements.ts';
import { type OfParts, type Pids, readUse, type Use } from './parts.ts';
import type { TurnScript } from './simulated-agent.ts';
import { startSimulatedEngine } from './start-engine.ts';

/** The total use so far. */
export interface Totals extends StatementCounts {
  atMs: number;
  parts: OfParts<Use>;
  redisCommands: number;
}

export interface RehearsalService {
  service: Service;
  totals(): Promise<Totals>;
  stop(): Promise<void>;
}

/** Longer than a rehearsal. */
const never = '3599999';
const plenty = 1_000_000;

/** Starts the service on the stack's servers, with several workers and simulated sandboxes. */
export async function startRehearsalService(
  { workers: workerCount, sessions }: RehearsalSize,
  script: TurnScript,
): Promise<RehearsalService> {
  const engine = await startSimulatedEngine(script);
  const counter = await countStatements(stackEnv.postgresUrl);
  const redis = new Redis(stackEnv.redisUrl);
  const service = await startService({
    sources: true,
    on: { postgresUrl: counter.url, dockerHost: engine.dockerHost },
    env: {
      NODE_ENV: 'production',
      LOG_LEVEL: 'info',
      HOST_CAPACITY: String(sessions + 100),
      SESSION_IDLE_MS: never,
      SESSION_ATTENDED_IDLE_MS: never,
    },
  });
  await service.database.pool.query('update projects set max_concurrent_runs = $1', [plenty]);
  const workers = [service.worker];
  while (workers.length < workerCount) workers.push((await service.anotherHost()).worker);
  for (const worker of workers) if (!worker.isRunning()) await worker.start();

  return {
    service,
    async totals() {
      return {
        atMs: performance.now(),
        parts: readUse(pidsOf(service, workers)),
        ...counter.counts(),
        redisCommands: await redisCommands(redis),
      };
    },
    async stop() {
      await service.stop();
      redis.disconnect();
      await counter.close();
      await engine.stop();
    },
  };
}

/** A server that the stack has not started has no process here and counts as 0. */
function pidsOf({ api }: Service, workers: ServiceProcess[]): Pids {
  const servers = foldersOf(stackNames.bench);
  const daemon = (...names: string[]): number[] =>
    names.flatMap((name) => pidOf(servers, name) ?? []);
  return {
    API: [api.pid()],
    workers: workers.map((worker) => worker.pid()),
    Postgres: daemon('postgres'),
    Redis: daemon('redis'),
    Temporal: daemon('temporal', 'temporal-server'),
  };
}

async function redisCommands(redis: Redis): Promise<number> {
  const found = /total_commands_processed:(\d+)/.exec(await redis.info('stats'));
  return Number(found?.[1] ?? 0);
}
