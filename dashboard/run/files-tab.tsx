import { useSignal } from '@preact/signals';
import { encodedPath } from '../../client/files/file-path.ts';
import { runFiles } from '../../client/files/run-files.ts';
import type { FileEntry } from '../../client/generated/types.ts';
import { basePath } from '../shell/settings.ts';
import { LongText } from '../transcript/long-text.tsx';
import { bytesText } from '../ui/format.ts';
import { Loaded } from '../ui/loaded.tsx';
import { collect, useLoading } from '../ui/loading.ts';
import type { RunFeed } from './run-feed.ts';

/** Larger files can be downloaded. */
const shownBytes = 1_048_576;

export function FilesTab({ feed }: { feed: RunFeed }) {
  const { http, runId, record } = feed;
  const read = () => collect(runFiles(http, runId).list());
  const loading = useLoading(read, [runId, record.value?.numTurns, record.value?.finishedAt]);
  const projectId = record.value?.projectId ?? '';
  const folder = `${basePath}api/projects/${encodeURIComponent(projectId)}/runs/${runId}`;
  return (
    <Loaded loading={loading}>
      {(files) =>
        files.length === 0 ? (
          <p class="muted">The working directory has no files.</p>
        ) : (
          <>
            <p>
              <a class="button" href={`${folder}/files.tar.gz`} download>
                Download all
              </a>
            </p>
            <ul class="plain">
              {files.map((file) => (
                <li key={file.path}>
                  <File
                    feed={feed}
                    file={file}
                    href={`${folder}/files/${encodedPath(file.path)}`}
                  />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

interface FileProps {
  feed: RunFeed;
  file: FileEntry;
  href: string;
}

function File({ feed, file: { path, size }, href }: FileProps) {
  const isOpen = useSignal(false);
  return (
    <details
      class="file"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <span class="cut mono">{path}</span>
        <span class="number muted">{bytesText(size)}</span>
      </summary>
      <a href={href} download>
        Download
      </a>
      {isOpen.value && size <= shownBytes && <Content feed={feed} path={path} />}
    </details>
  );
}

function Content({ feed: { http, runId }, path }: { feed: RunFeed; path: string }) {
  const loading = useLoading(() => runFiles(http, runId).readText(path), [runId, path]);
  return <Loaded loading={loading}>{(text) => <LongText text={text} />}</Loaded>;
}
