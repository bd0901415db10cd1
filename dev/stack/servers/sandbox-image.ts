// The agent's image, built from a copy of sandbox/ beside which lies the certificate authority that a
// network with TLS inspection needs (an empty file elsewhere). Its tag is the hash of all of it.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { requireDiskSpace } from '../../lib/disk.ts';
import { repository, rootFolder } from '../../lib/folders.ts';
import { filesIn, hashOfFolder } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { callEngineStream, hasImage } from '../engine-api.ts';
import { pruneImages } from './prune-images.ts';

interface ImageOptions {
  /** What the step and the image are called, and the folder it is built from. */
  step: string;
  name: string;
  folder: string;
  buildArgs?: Record<string, string>;
}

export function ensureSandboxImage(socket: string): Promise<string> {
  return ensureImage(socket, {
    step: 'sandbox image',
    name: 'flowrun-sandbox',
    folder: join(repository, 'sandbox'),
  });
}

/** The same image with the scripted agent in the place of the real one, for tests. */
export function ensureScriptedImage(socket: string, base: string): Promise<string> {
  return ensureImage(socket, {
    step: 'scripted image',
    name: 'flowrun-sandbox-scripted',
    folder: join(repository, 'test/fixtures/scripted-agent'),
    buildArgs: { BASE: base },
  });
}

function ensureImage(socket: string, wish: ImageOptions): Promise<string> {
  return step(wish.step, async (progress) => {
    const context = stageContext(wish.folder);
    try {
      const args = wish.buildArgs ?? {};
      const tag = `${wish.name}:${hashOfFolder(context, JSON.stringify(args))}`;
      if (await hasImage(socket, tag)) return { value: tag, summary: `${tag} is there` };
      requireDiskSpace(rootFolder(), `building ${wish.name}`);
      progress(`building ${tag}`);
      await build(socket, { tag, context, args }, progress);
      await pruneImages(socket, wish.name);
      return { value: tag, summary: `${tag} built` };
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  });
}

function stageContext(folder: string): string {
  const context = mkdtempSync(join(tmpdir(), 'flowrun-image-'));
  for (const file of filesIn(folder)) cpSync(file, join(context, relative(folder, file)));
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE;
  const known = authority !== undefined && existsSync(authority);
  writeFileSync(join(context, 'extra-ca.crt'), known ? readFileSync(authority) : '');
  return context;
}

async function build(
  socket: string,
  image: { tag: string; context: string; args: Record<string, string> },
  progress: (doing: string) => void,
): Promise<void> {
  const query = new URLSearchParams({
    t: image.tag,
    networkmode: 'host',
    buildargs: JSON.stringify(image.args),
    forcerm: '1',
  });
  const tar = spawn('tar', ['-C', image.context, '-cf', '-', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const path = `/build?${query.toString()}`;
  const call = { method: 'POST', path, contentType: 'application/x-tar', body: tar.stdout };
  await callEngineStream(socket, call, (text) => {
    if (text.startsWith('Step ')) progress(text.slice(0, 80));
  });
}
