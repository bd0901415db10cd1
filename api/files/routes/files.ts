import type { App } from '../../app-types.ts';
import { forOperators } from '../../auth/operator-routes.ts';
import type { ApiDeps } from '../../deps.ts';
import { installArchiveBody } from '../archive/receive-archive.ts';
import { downloadArchive } from './download-archive.ts';
import { downloadFile } from './download-file.ts';
import { downloadFlowArchive, uploadFlowArchive } from './flow-archive.ts';
import { flowFile } from './flow-file.ts';
import { flowFiles } from './flow-files.ts';
import { injectFiles } from './inject-files.ts';
import { listChanges } from './list-changes.ts';
import { listFiles } from './list-files.ts';
import { uploadArchive } from './upload-archive.ts';

export function files(app: App, deps: ApiDeps): void {
  listFiles(app, deps);
  downloadFile(app, deps);
  downloadArchive(app, deps);
  listChanges(app, deps);
  flowFiles(app, deps);
  flowFile(app, deps);
  downloadFlowArchive(app, deps);
  injectFiles(app, deps);
}

/** For keys and for operators. */
export function uploads(app: App, deps: ApiDeps): void {
  void app.register(async (scope: App) => {
    installArchiveBody(scope);
    for (const to of [scope, forOperators(scope)]) {
      uploadArchive(to, deps);
      uploadFlowArchive(to, deps);
    }
  });
}
