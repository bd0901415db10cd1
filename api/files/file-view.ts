import type { z } from 'zod';
import {
  changeStatus,
  type FileChange,
  type FileVersion,
  isExecutable,
} from '../../core/files/file-change.ts';
import type { FileEntry } from '../../core/files/file-entry.ts';
import type { fileChange, fileEntry } from './file-schema.ts';

export function fileView(file: FileEntry): z.infer<typeof fileEntry> {
  return {
    path: file.path,
    name: nameOf(file.path),
    type: 'file',
    size: file.size,
    sha256: file.sha256,
    mode: modeOf(file),
    scope: file.scope,
    modifiedAt: file.modifiedAt.toISOString(),
  };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function changeView(change: FileChange): z.infer<typeof fileChange> {
  const { path, before, after } = change;
  const status = changeStatus(change);
  return { path, status, before: versionView(before), after: versionView(after) };
}

function versionView(version: FileVersion | null): z.infer<typeof fileChange>['before'] {
  if (version === null) return null;
  const { size, sha256 } = version;
  return { size, sha256, mode: modeOf(version) };
}

const modeOf = (file: Pick<FileEntry, 'mode'>) => (isExecutable(file) ? '0755' : '0644');
