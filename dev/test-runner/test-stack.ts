import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../lib/folders.ts';
import { ensureDependencies } from '../stack/dependencies.ts';
import { ensureScriptedImage } from '../stack/servers/sandbox-image.ts';

/**
 * Starts the servers that tests use. Returns the variables that test/support/stack-env.ts reads,
 * and Node's own one for compiled code: tests start the same programs many times. Temporal
 * stores nothing on disk, because no test needs its data afterwards and writing takes CPU time.
 */
export async function ensureTestStack(
  folders: Folders,
  temporal: { inMemory: boolean } = { inMemory: true },
): Promise<Record<string, string>> {
  const stack = await ensureDependencies(folders, temporal);
  const scriptedImage = await ensureScriptedImage(stack.dockerSocket, stack.sandboxImage);
  const dataDir = join(folders.data, 't'); // short, because paths of unix sockets are limited
  mkdirSync(dataDir, { recursive: true });
  return {
    TEST_POSTGRES_URL: stack.postgresUrl,
    TEST_REDIS_URL: stack.redisUrl,
    TEST_TEMPORAL_ADDRESS: stack.temporal.address,
    TEST_DOCKER_HOST: `unix://${stack.dockerSocket}`,
    TEST_SANDBOX_IMAGE: stack.sandboxImage,
    TEST_SCRIPTED_IMAGE: scriptedImage,
    TEST_CA_DIR: stack.authority.folder,
    TEST_DATA_DIR: dataDir,
    NODE_COMPILE_CACHE: join(folders.data, 'code-cache'),
  };
}
