// Builds the agent's image from a staged copy of its sources, with the certificate authority of a
// network that inspects TLS (otherwise an empty file). The tag is the hash of the staged context.

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { requireDiskSpace } from '../../lib/disk.ts';
import { repository, rootFolder } from '../../lib/folders.ts';
import { filesIn, hashOfFolder } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { callEngineStream, hasImage } from '../engine-api.ts';
import { pruneImages } from './prune-images.ts';

interface ImageOptions {
  step: string;
  name: string;
  /** The directory that becomes the root of the build context. */
  root: string;
  /** The parts of the root that are staged, and the Dockerfile among them. */
  sources: string[];
  dockerfile: string;
  buildArgs?: Record<string, string>;
}

export function ensureSandboxImage(socket: string): Promise<string> {
  return ensureImage(socket, {
    step: 'sandbox image',
    name: 'flowrun-sandbox',
    root: repository,
    sources: ['sandbox/Dockerfile', 'sandbox/entry', ...sandboxPackage, 'core/sandbox'],
    dockerfile: 'sandbox/Dockerfile',
  });
}

/** The same image with the scripted agent instead of the real one, for tests. */
export function ensureScriptedImage(socket: string, base: string): Promise<string> {
  return ensureImage(socket, {
    step: 'scripted image',
    name: 'flowrun-sandbox-scripted',
    root: join(repository, 'test/fixtures/scripted-agent'),
    sources: ['.'],
    dockerfile: 'Dockerfile',
    buildArgs: { BASE: base },
  });
}

function ensureImage(socket: string, options: ImageOptions): Promise<string> {
  return step(options.step, async (progress) => {
    const context = stageContext(options);
    try {
      const args = options.buildArgs ?? {};
      const tag = `${options.name}:${hashOfFolder(context, JSON.stringify(args))}`;
      if (await hasImage(socket, tag)) return { value: tag, summary: `${tag} exists` };
      requireDiskSpace(rootFolder(), `building ${options.name}`);
      progress(`building ${tag}`);
      await build(socket, { tag, context, args, dockerfile: options.dockerfile }, progress);
      await pruneImages(socket, options.name);
      return { value: tag, summary: `${tag} built` };
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  });
}

function stageContext({ root, sources }: ImageOptions): string {
  const context = mkdtempSync(join(tmpdir(), 'flowrun-image-'));
  const files = sources.map((source) => join(root, source)).flatMap(filesBelow);
  for (const file of files) cpSync(file, join(context, relative(root, file)));
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE;
  const hasAuthority = authority !== undefined && existsSync(authority);
  writeFileSync(join(context, 'extra-ca.crt'), hasAuthority ? readFileSync(authority) : '');
  return context;
}

const sandboxPackage = ['sandbox/package.json', 'sandbox/package-lock.json'];

const filesBelow = (path: string): string[] =>
  statSync(path).isDirectory() ? filesIn(path) : [path];

async function build(
  socket: string,
  image: { tag: string; context: string; args: Record<string, string>; dockerfile: string },
  progress: (doing: string) => void,
): Promise<void> {
  const query = new URLSearchParams({
    t: image.tag,
    dockerfile: image.dockerfile,
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
