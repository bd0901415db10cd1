// The image under the sandbox: pulled; where no registry answers, built from Debian's packages and
// npm's under the same name, so that the Dockerfile is the same everywhere.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRootFolder } from '../../from-source/base-image-root.ts';
import { cacheFolder, isRoot, repository } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { CannotGoOn } from '../../lib/setup-error.ts';
import { hasImage, workEngine } from '../engine-api.ts';
import { alone } from '../lock.ts';

const repositoryName = 'node';
const tag = '24-bookworm-slim';
const registrySilenceMs = 15_000;

export function ensureBaseImage(socket: string): Promise<string> {
  const image = `${repositoryName}:${tag}`;
  return step('base image', async (now) => {
    if (await hasImage(socket, image)) return { value: image, said: `${image} is there` };
    return alone(join(cacheFolder(), 'base-image.lock'), async () => {
      if (await hasImage(socket, image)) return { value: image, said: `${image} is there` };
      now(`pulling ${image}`);
      const refused = await pull(socket);
      if (refused === undefined) return { value: image, said: `${image} pulled` };
      await importImage(socket, await archive(now, refused));
      return { value: image, said: `${image} built from packages (no registry answered)` };
    });
  });
}

/** Undefined when it is here now, else why not. */
async function pull(socket: string): Promise<string | undefined> {
  const path = `/images/create?fromImage=${repositoryName}&tag=${tag}`;
  try {
    await workEngine(socket, { method: 'POST', path, silenceMs: registrySilenceMs });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The image's files as a tar archive, made once and kept. */
async function archive(now: (doing: string) => void, refused: string): Promise<string> {
  const pins = readFileSync(join(repository, 'dev/from-source/base-image/package-lock.json'));
  const recipe = readFileSync(join(repository, 'dev/from-source/base-image-root.ts'));
  const file = join(cacheFolder(), `base-image-${hashOf(pins, recipe)}.tar`);
  if (existsSync(file)) return file;
  if (!isRoot) {
    throw new CannotGoOn(
      `${repositoryName}:${tag} cannot be pulled, and only root may build it.\n${refused}`,
    );
  }
  await buildRootFolder(file, now);
  return file;
}

async function importImage(socket: string, file: string): Promise<void> {
  const changes = [
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'CMD ["node"]',
  ];
  const query = new URLSearchParams({ fromSrc: '-', repo: repositoryName, tag });
  for (const change of changes) query.append('changes', change);
  await workEngine(socket, {
    method: 'POST',
    path: `/images/create?${query.toString()}`,
    contentType: 'application/x-tar',
    body: createReadStream(file),
  });
}
