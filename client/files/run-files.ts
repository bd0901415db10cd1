import type { FileEntry } from '../generated/types.ts';
import type { Http } from '../http/http.ts';
import { encodedPath } from './file-path.ts';
import { type FileContent, toInputFile } from './input-files.ts';
import { pullArchive } from './pull-archive.ts';

interface FileFilter {
  /** Only paths that begin with this prefix. */
  prefix?: string;
  /** `flow`: files of the flow. `run`: all others. */
  scope?: 'flow' | 'run';
}

interface ArchiveFormat {
  isCompressed?: boolean;
}

export interface RunFiles {
  list(filter?: FileFilter): AsyncGenerator<FileEntry, void, undefined>;
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  readText(path: string): Promise<string>;
  /** Adds files, or replaces those with the same path. */
  add(files: readonly FileContent[]): Promise<FileEntry[]>;
  /** The files as a tar archive. A stream that fails is incomplete. */
  archive(options?: FileFilter & ArchiveFormat): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Adds the files of a tar archive. */
  addArchive(archive: Uint8Array<ArrayBuffer> | Blob, format?: ArchiveFormat): Promise<FileEntry[]>;
  /** Writes the files to a folder, and returns their paths. It needs Node, Bun or Deno. */
  pull(folder: string, filter?: FileFilter): Promise<string[]>;
}

export function runFiles(http: Http, runId: string): RunFiles {
  const path = `/runs/${runId}/files`;
  const fileAt = (file: string) => ({ path: `${path}/${encodedPath(file)}` });
  const archivePath = ({ isCompressed = false }: ArchiveFormat) =>
    `${path}.tar${isCompressed ? '.gz' : ''}`;

  async function archive({ isCompressed = false, ...filter }: FileFilter & ArchiveFormat = {}) {
    const response = await http.send({ path: archivePath({ isCompressed }), query: { ...filter } });
    if (response.body === null) throw new TypeError('The archive has no body.');
    return response.body;
  }

  return {
    list: (filter = {}) => http.items({ path, query: { ...filter } }),
    read: async (file) =>
      http.read(fileAt(file), async (response) => new Uint8Array(await response.arrayBuffer())),
    readText: async (file) => http.read(fileAt(file), (response) => response.text()),
    add: (files) =>
      http.data({
        method: 'POST',
        path,
        json: { files: files.map(toInputFile) },
        isRepeatable: true,
      }),
    archive,
    addArchive: (body, format = {}) =>
      http.data({
        method: 'PUT',
        path: archivePath(format),
        body,
        headers: {
          'content-type': format.isCompressed === true ? 'application/gzip' : 'application/x-tar',
        },
      }),
    pull: async (folder, filter = {}) => pullArchive(await archive(filter), folder),
  };
}
