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
    async patch(query = {}) {
      const response = await http.send({ path, query: { ...query, format: 'patch' } });
      return response.text();
    },
  };
}
