import type { FileEntry } from '../generated/types.ts';
import type { Http } from '../http/http.ts';
import type { FlowNames } from '../runs/flow-names.ts';
import { encodedPath } from './file-path.ts';
import { type FileContent, toInputFile } from './input-files.ts';

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

  const read = <T>(file: string, reading: (response: Response) => Promise<T>): Promise<T> =>
    at(`/${encodedPath(file)}`, (path) => http.read({ path }, reading));

  return {
    async *list(query = {}) {
      yield* http.items<FileEntry>({ path: `/flows/${await flows.idOf(flow)}/files`, query });
    },
    readEtag: () =>
      at('', (path) =>
        http.read({ path, query: { limit: 1 } }, async ({ headers }) => headers.get('etag') ?? ''),
      ),
    read: (file) => read(file, async (response) => new Uint8Array(await response.arrayBuffer())),
    readText: (file) => read(file, (response) => response.text()),
    async archive(query = {}) {
      const { body } = await at('.tar', (path) => http.send({ path, query }));
      if (body === null) throw new TypeError('The archive has no body.');
      return body;
    },
    async replace(files, condition) {
      const json = { files: files.map(toInputFile) };
      await at('', (path) =>
        http.data({ method: 'PUT', path, json, headers: headersOf(condition) }),
      );
    },
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

const headersOf = ({ ifMatch }: Condition = {}): Record<string, string> =>
  ifMatch === undefined ? {} : { 'if-match': ifMatch };
