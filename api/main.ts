import { randomUUID } from 'node:crypto';
import { readApiConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { createAdmission } from '../systems/postgres/admission.ts';
import { createBlobStore } from '../systems/postgres/blob-store.ts';
import { createFileStore } from '../systems/postgres/file-store.ts';
import { createFlowStore } from '../systems/postgres/flow-store.ts';
import { createFrameStore } from '../systems/postgres/frame-store.ts';
import { createKeyStore } from '../systems/postgres/key-store.ts';
import { createPool } from '../systems/postgres/pool.ts';
import { createRunStore } from '../systems/postgres/run-store.ts';
import { createSealer } from '../systems/postgres/seal.ts';
import { connectRedis } from '../systems/redis/connect.ts';
import { createFrameStream } from '../systems/redis/frame-stream.ts';
import { createRateLimiter } from '../systems/redis/rate-limit.ts';
import { createStreamSeats } from '../systems/redis/stream-seats.ts';
import { createTemporal } from '../systems/temporal/client.ts';
import { buildApp } from './app.ts';
import { mayCallAddress } from './public-address.ts';

const config = readApiConfig();
const logger = createLogger({ level: config.logLevel, name: 'api' });
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'uncaught');
  process.exit(1);
});
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
const poolSize = 20;
/** What is still going on this long after the order to stop is cut off. */
const stopWithinMs = 10_000;
const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

/** What is opened first is closed last. */
async function main(signal: AbortSignal): Promise<void> {
  const { instance, host, port } = config;
  const parts = open();
  const app = await buildApp(parts.deps);
  await app.listen({ host, port });
  logger.info({ instance, address: app.server.address() }, 'api_ready');

  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  logger.info('api_stopping');
  const cutOff = setTimeout(() => app.server.closeAllConnections(), stopWithinMs);
  await app.close();
  clearTimeout(cutOff);
  await parts.close();
  logger.info('api_stopped');
}

function open() {
  const { instance } = config;
  const applicationName = `${instance}-api`;
  const onError = (err: Error) => logger.warn({ err }, 'connection_lost');
  const pool = createPool(config.databaseUrl, { applicationName, max: poolSize, onError });
  const redis = connectRedis({ url: config.redisUrl, name: applicationName, onError });
  const frameStream = createFrameStream(redis, { instance, onError });
  const temporal = createTemporal({
    ...config.temporal,
    instance,
    times: { noCapacityMs: config.times.noCapacityTimeoutMs },
  });
  const sealer = createSealer(config.encryptionKey);
  const nowMs = () => performance.timeOrigin + performance.now();

  const deps = {
    publicUrl: config.publicUrl,
    runTimeoutMs: config.times.runTimeoutMs,
    logger,
    keys: createKeyStore(pool),
    flows: createFlowStore(pool, sealer),
    admission: createAdmission(pool, sealer),
    runs: createRunStore(pool, sealer),
    frames: createFrameStore(pool),
    files: createFileStore(pool),
    blobs: createBlobStore(pool),
    frameStream,
    rateLimiter: createRateLimiter(redis, { instance, nowMs }),
    seats: createStreamSeats(redis, { instance }),
    startRun: temporal.startRun,
    signalStop: temporal.signalStop,
    mayCall: mayCallAddress(config.webhook.allowPrivate),
    checks: {
      postgres: () => pool.query('select 1'),
      redis: () => redis.ping(),
      temporal: temporal.check,
    },
    now: () => new Date(),
    nowMs,
    newId: randomUUID,
  };
  async function close(): Promise<void> {
    frameStream.close();
    redis.disconnect();
    await Promise.all([temporal.close(), pool.end()]);
  }
  return { deps, close };
}
