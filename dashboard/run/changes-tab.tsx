import { runChanges } from '../../client/files/changes.ts';
import type { FileChange } from '../../client/generated/types.ts';
import { Diff, DiffSize } from '../transcript/diff.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { collect, useLoading } from '../ui/loading.ts';
import { hunksByFile } from './patch.ts';
import type { RunFeed } from './run-feed.ts';

const marks: Record<FileChange['status'], string> = {
  added: 'Added',
  modified: 'Changed',
  deleted: 'Deleted',
};

/** The files that differ from those at the start of the run, with their diffs. */
export function ChangesTab({ feed: { http, runId, record } }: { feed: RunFeed }) {
  const changes = runChanges(http, runId);
  const read = async () => {
    const files = await collect(changes.list());
    return { files, hunks: hunksByFile(files.length === 0 ? '' : await changes.patch()) };
  };
  const loading = useLoading(read, [runId, record.value?.numTurns, record.value?.finishedAt]);
  return (
    <Loaded loading={loading}>
      {({ files, hunks }) =>
        files.length === 0 ? (
          <p class="muted">No files have changed since the start of the run.</p>
        ) : (
          <ul class="plain">
            {files.map(({ path, status }) => {
              const ofFile = hunks.get(path) ?? [];
              return (
                <li key={path}>
                  <details class="file" open={files.length <= 5}>
                    <summary>
                      <span class={`change change-${status}`}>{marks[status]}</span>
                      <span class="cut mono">{path}</span>
                      {ofFile.length > 0 && <DiffSize hunks={ofFile} />}
                    </summary>
                    {ofFile.length === 0 ? (
                      <p class="muted small">No text to compare.</p>
                    ) : (
                      <Diff hunks={ofFile} />
                    )}
                  </details>
                </li>
              );
            })}
          </ul>
        )
      }
    </Loaded>
  );
}
