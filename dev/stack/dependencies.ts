// Finds or starts, in parallel, every server that the service depends on. If one fails, the others
// are still awaited, because an installation must not be interrupted.

import type { Folders } from '../lib/folders.ts';
import { settleAll } from '../lib/settle-all.ts';
import { type Authority, ensureAuthority } from './servers/authority.ts';
import { ensureBaseImage } from './servers/base-image.ts';
import { ensureEngine } from './servers/engine.ts';
import { ensurePostgres } from './servers/postgres.ts';
import { ensureRedis } from './servers/redis.ts';
import { ensureSandboxImage } from './servers/sandbox-image.ts';
import { ensureTemporal, type Temporal, type TemporalOptions } from './servers/temporal.ts';

export interface Dependencies {
  postgresUrl: string;
  redisUrl: string;
  temporal: Temporal;
  /** The path of the engine's socket. */
  dockerSocket: string;
  sandboxImage: string;
  authority: Authority;
}

export async function ensureDependencies(
  folders: Folders,
  temporalOptions: Pick<TemporalOptions, 'ports' | 'inMemory'> = {},
): Promise<Dependencies> {
  const { DATABASE_URL, REDIS_URL, TEMPORAL_ADDRESS, TEMPORAL_UI_URL, DOCKER_HOST } = process.env;
  const [postgresUrl, redisUrl, temporal, images, authority] = await settleAll([
    ensurePostgres(folders, DATABASE_URL),
    ensureRedis(folders, { externalUrl: REDIS_URL }),
    ensureTemporal(folders, {
      externalAddress: TEMPORAL_ADDRESS,
      externalUiUrl: TEMPORAL_UI_URL,
      ...temporalOptions,
    }),
    ensureImages(DOCKER_HOST),
    ensureAuthority(folders),
  ]);
  return { postgresUrl, redisUrl, temporal, authority, ...images };
}

async function ensureImages(dockerHost: string | undefined) {
  const dockerSocket = await ensureEngine(dockerHost);
  await ensureBaseImage(dockerSocket);
  return { dockerSocket, sandboxImage: await ensureSandboxImage(dockerSocket) };
}
