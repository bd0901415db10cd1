import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../lib/folders.ts';
import { ensureDependencies } from '../stack/dependencies.ts';
import { ensureScriptedImage } from '../stack/servers/sandbox-image.ts';

/** Brings up the outside parts that tests use and returns what test/support/stack-env.ts reads. */
export async function ensureTestStack(folders: Folders): Promise<Record<string, string>> {
  const outside = await ensureDependencies(folders);
  const scripted = await ensureScriptedImage(outside.dockerSocket, outside.sandboxImage);
  const dataDir = join(folders.data, 't');
  mkdirSync(dataDir, { recursive: true });
  return {
    TEST_POSTGRES_URL: outside.postgresUrl,
    TEST_REDIS_URL: outside.redisUrl,
    TEST_TEMPORAL_ADDRESS: outside.temporal.address,
    TEST_DOCKER_HOST: `unix://${outside.dockerSocket}`,
    TEST_SANDBOX_IMAGE: outside.sandboxImage,
    TEST_SCRIPTED_IMAGE: scripted,
    TEST_CA_DIR: outside.authority.folder,
    TEST_DATA_DIR: dataDir,
  };
}
