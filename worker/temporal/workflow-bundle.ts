import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

/**
 * Bundles the workflows into one file, once per content of their sources. Bundling takes seconds,
 * and after a crash sandboxes wait for the worker.
 */
export async function ensureWorkflowBundle({
  cacheDir,
  workflowsPath = defaultWorkflowsPath,
  logger,
}: {
  cacheDir: string;
  workflowsPath?: string;
  logger?: Logger;
}): Promise<{ codePath: string }> {
  const name = `workflows-${await keyOf(workflowsPath)}.js`;
  const codePath = join(cacheDir, name);
  for (const known of [join(prebuiltDir, name), codePath]) {
    if (await exists(known)) return { codePath: known };
  }
  const { code } = await bundleWorkflowCode({ workflowsPath, ...(logger && { logger }) });
  await mkdir(cacheDir, { recursive: true });
  // A crash while writing leaves a file that is never read.
  const partial = `${codePath}.${process.pid}`;
  await writeFile(partial, code);
  await rename(partial, codePath);
  return { codePath };
}

const root = new URL('../..', import.meta.url).pathname;
/** The image contains a bundle here. */
export const prebuiltDir = join(root, 'dist');
const defaultWorkflowsPath = join(root, 'workflows', 'index.ts');

async function keyOf(workflowsPath: string): Promise<string> {
  const hash = createHash('sha256').update(sdkVersion());
  const folders = [join(workflowsPath, '..'), join(root, 'workflows'), join(root, 'core')];
  for (const folder of new Set(folders)) {
    for (const name of (await readdir(folder, { recursive: true })).sort()) {
      if (name.endsWith('.ts'))
        hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 32);
}

function sdkVersion(): string {
  const required: unknown = createRequire(import.meta.url)('@temporalio/worker/package.json');
  return JSON.stringify(required);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
