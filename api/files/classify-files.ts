import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ignoreName } from '../../core/files/file-entry.ts';
import { limits } from '../../core/limits.ts';
import type { InputFiles } from '../../systems/postgres/files/input-files.ts';
import type { ApiDeps } from '../deps.ts';
import { matchIgnored } from './flow-ignore.ts';
import type { DecodedFile } from './input-files.ts';

/** Contents first: nothing may name one that is not there. One that nobody names harms nobody. */
export async function storeContents(
  { blobs }: Pick<ApiDeps, 'blobs'>,
  files: DecodedFile[],
): Promise<void> {
  const present = await blobs.has(files.map(({ sha256 }) => sha256));
  for (const { sha256, size, content } of files) {
    if (!present.has(sha256)) await blobs.put(Readable.from([content]), { sha256, size });
  }
}

/** Which are the run's alone and which its flow's: by the request's own rules, else by the flow's. */
export async function classifyFiles(
  deps: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  flowId: string,
  files: DecodedFile[],
): Promise<InputFiles> {
  const own = files.find(({ path }) => path === ignoreName);
  const rules = own
    ? { text: own.content.toString(), judgedBy: null }
    : await rulesOfFlow(deps, flowId);
  const ignored = matchIgnored(
    rules.text,
    files.map(({ path }) => path),
  );
  const scoped = files.map(({ path, sha256, size, mode }) => {
    return { path, sha256, size, mode, scope: ignored.has(path) ? 'run' : 'flow' } as const;
  });
  return { files: scoped, classifiedBy: rules.judgedBy };
}

async function rulesOfFlow(
  { blobs, flowFiles }: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  flowId: string,
): Promise<{ text: string; judgedBy: { sha256: string | null } }> {
  const found = await flowFiles.find(flowId, ignoreName);
  if (found === null) return { text: '', judgedBy: { sha256: null } };
  const range = { end: limits.flowIgnoreMaxBytes };
  return {
    text: await text(Readable.from(blobs.read(found.sha256, range))),
    judgedBy: { sha256: found.sha256 },
  };
}
