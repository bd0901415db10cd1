import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { downloadArchive } from './download-archive.ts';
import { downloadFile } from './download-file.ts';
import { injectFiles } from './inject-files.ts';
import { listChanges } from './list-changes.ts';
import { listFiles } from './list-files.ts';
import { uploadArchive } from './upload-archive.ts';

export function files(app: App, deps: ApiDeps): void {
  listFiles(app, deps);
  downloadFile(app, deps);
  downloadArchive(app, deps);
  injectFiles(app, deps);
  listChanges(app, deps);
  uploadArchive(app, deps);
}
