// The base image of the sandbox is pulled. If no registry is reachable, it is built from Debian and
// npm packages under the same name, so that the Dockerfile is the same everywhere.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRootFolder } from '../../from-source/base-image-root.ts';
import { cacheFolder, isRoot, repository } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { callEngineStream, hasImage } from '../engine-api.ts';
import { withFileLock } from '../lock.ts';

const repositoryName = 'node';
const tag = '24-bookworm-slim';
const registrySilenceMs = 15_000;

export function ensureBaseImage(socket: string): Promise<string> {
  const image = `${repositoryName}:${tag}`;
  return step('base image', async (progress) => {
    if (await hasImage(socket, image)) return { value: image, summary: `${image} exists` };
    return withFileLock(join(cacheFolder(), 'base-image.lock'), async () => {
      if (await hasImage(socket, image)) return { value: image, summary: `${image} exists` };
      progress(`pulling ${image}`);
      const failure = await pull(socket);
      if (failure === undefined) return { value: image, summary: `${image} pulled` };
      await importImage(socket, await archive(progress, failure));
      return { value: image, summary: `${image} built from packages (no registry reachable)` };
    });
  });
}

/** Returns undefined, or why the image cannot be pulled. */
async function pull(socket: string): Promise<string | undefined> {
  const path = `/images/create?fromImage=${repositoryName}&tag=${tag}`;
  try {
    await callEngineStream(socket, { method: 'POST', path, silenceMs: registrySilenceMs });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The path of the image's files as a tar archive, from the cache if possible. */
async function archive(progress: (doing: string) => void, failure: string): Promise<string> {
  const pins = readFileSync(join(repository, 'dev/from-source/base-image/package-lock.json'));
  const recipe = readFileSync(join(repository, 'dev/from-source/base-image-root.ts'));
  const file = join(cacheFolder(), `base-image-${hashOf(pins, recipe)}.tar`);
  if (existsSync(file)) return file;
  if (!isRoot) {
    throw new SetupError(
      `${repositoryName}:${tag} cannot be pulled, and only root may build it.\n${failure}`,
    );
  }
  await buildRootFolder(file, progress);
  return file;
}

async function importImage(socket: string, file: string): Promise<void> {
  const changes = [
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'CMD ["node"]',
  ];
  const query = new URLSearchParams({ fromSrc: '-', repo: repositoryName, tag });
  for (const change of changes) query.append('changes', change);
  await callEngineStream(socket, {
    method: 'POST',
    path: `/images/create?${query.toString()}`,
    contentType: 'application/x-tar',
    body: createReadStream(file),
  });
}
