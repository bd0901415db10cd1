import type { z } from 'zod';
import type { FileEntry } from '../../core/files/file-entry.ts';
import type { fileEntry } from './file-schema.ts';

export function fileView(file: FileEntry): z.infer<typeof fileEntry> {
  return {
    path: file.path,
    name: nameOf(file.path),
    type: 'file',
    size: file.size,
    sha256: file.sha256,
    scope: file.scope,
    modifiedAt: file.modifiedAt.toISOString(),
  };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
