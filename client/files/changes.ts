import type { FileChange } from '../generated/types.ts';
import type { Http } from '../http/http.ts';

export interface RunChanges {
  /** The files that differ from the original files of the run. */
  list(options?: { prefix?: string }): AsyncGenerator<FileChange, void, undefined>;
  /** The same as a patch for `git apply`. */
  patch(options?: { prefix?: string }): Promise<string>;
}

export function runChanges(http: Http, runId: string): RunChanges {
  const path = `/runs/${runId}/changes`;
  return {
    list: (query = {}) => http.items({ path, query }),
    patch: (query = {}) =>
      http.read({ path, query: { ...query, format: 'patch' } }, (response) => response.text()),
  };
}
