import type { FileEntry } from '../generated/types.ts';
import { PreconditionFailed } from '../http/errors.ts';
import type { Http } from '../http/http.ts';
import type { FlowNames } from '../runs/flow-names.ts';
import { encodedPath } from './file-path.ts';
import { type FileContent, toInputFile } from './input-files.ts';
import { pullArchive } from './pull-archive.ts';
import { readTarEntries } from './read-tar.ts';

interface Condition {
  /** The change is made only if the set still has this ETag; else it throws PreconditionFailed. */
  ifMatch?: string;
}

/** The files that every later run of a flow starts with, as one set. */
export interface FlowFiles {
  list(filter?: { prefix?: string }): AsyncGenerator<FileEntry, void, undefined>;
  /** Changes whenever a file of the set changes. */
  readEtag(): Promise<string>;
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  readText(path: string): Promise<string>;
  /** The files as a tar archive. A stream that fails is incomplete. */
  archive(filter?: { prefix?: string }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Writes the files to a folder, and returns their paths. It needs Node, Bun or Deno. */
  pull(folder: string, filter?: { prefix?: string }): Promise<string[]>;
  /** Adds files, or replaces those with the same path. Other files and their changes stay. */
  add(files: readonly FileContent[]): Promise<void>;
  /** Replaces all files. */
  replace(files: readonly FileContent[], condition?: Condition): Promise<void>;
  /** Replaces all files with those of a tar archive. */
  replaceByArchive(archive: Uint8Array<ArrayBuffer> | Blob, condition?: Condition): Promise<void>;
  delete(path: string, condition?: Condition): Promise<void>;
  deleteAll(condition?: Condition): Promise<void>;
}

export function flowFiles(
  { http, flows }: { http: Http; flows: FlowNames },
  flow: string,
): FlowFiles {
  /** Calls `work` with the path of the set, or of a part of it. */
  const at = <T>(part: string, work: (path: string) => Promise<T>): Promise<T> =>
    flows.withFlow(flow, (flowId) => work(`/flows/${flowId}/files${part}`));

  const read = async <T>(file: string, reading: (response: Response) => Promise<T>): Promise<T> =>
    at(`/${encodedPath(file)}`, (path) => http.read({ path }, reading));

  const readEtag = () =>
    at('', (path) =>
      http.read({ path, query: { limit: 1 } }, async ({ headers }) => headers.get('etag') ?? ''),
    );

  async function archive(query: { prefix?: string } = {}) {
    const { body } = await at('.tar', (path) => http.send({ path, query }));
    if (body === null) throw new TypeError('The archive has no body.');
    return body;
  }

  async function replace(files: readonly FileContent[], condition?: Condition): Promise<void> {
    const json = { files: files.map(toInputFile) };
    await at('', (path) => http.data({ method: 'PUT', path, json, headers: headersOf(condition) }));
  }

  return {
    async *list(query = {}) {
      yield* http.items<FileEntry>({ path: `/flows/${await flows.idOf(flow)}/files`, query });
    },
    readEtag,
    read: (file) => read(file, async (response) => new Uint8Array(await response.arrayBuffer())),
    readText: (file) => read(file, (response) => response.text()),
    archive,
    pull: async (folder, filter) => pullArchive(await archive(filter), folder),
    add: (files) => addTo({ readEtag, archive, replace }, files),
    replace,
    async replaceByArchive(body, condition) {
      const headers = { ...headersOf(condition), 'content-type': 'application/x-tar' };
      await at('.tar', (path) => http.data({ method: 'PUT', path, body, headers }));
    },
    async delete(file, condition) {
      const headers = headersOf(condition);
      await at(`/${encodedPath(file)}`, (path) => http.remove({ path, headers }, undefined));
    },
    async deleteAll(condition) {
      const headers = headersOf(condition);
      await at('', (path) => http.remove({ path, headers }, undefined));
    },
  };
}

const addAttemptsMax = 5;

/** The set is replaced only if nothing else has changed it since it was read. */
async function addTo(
  set: Pick<FlowFiles, 'readEtag' | 'archive' | 'replace'>,
  files: readonly FileContent[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const ifMatch = await set.readEtag();
    const others = await filesBeside(files, await set.archive());
    try {
      return await set.replace([...others, ...files], { ifMatch });
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || attempt === addAttemptsMax) throw error;
    }
  }
}

/** The files of an archive whose paths are not among those of the given files. */
async function filesBeside(
  given: readonly FileContent[],
  archive: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<FileContent[]> {
  const paths = new Set(given.map(({ path }) => path));
  const others: FileContent[] = [];
  for await (const { path, mode, content } of readTarEntries(archive)) {
    if (!paths.has(path)) others.push({ path, content, mode: mode & 0o100 ? '0755' : '0644' });
  }
  return others;
}

const headersOf = ({ ifMatch }: Condition = {}): Record<string, string> =>
  ifMatch === undefined ? {} : { 'if-match': ifMatch };
