// The stack that `npm run demo` and `npm start` start and `npm run stop` stops.

import { type Folders, foldersOf } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { settleAll } from '../lib/settle-all.ts';
import { commandHint } from '../stack/command-hint.ts';
import { type Dependencies, ensureDependencies } from '../stack/dependencies.ts';
import { withStackLock } from '../stack/lock.ts';
import { ensureModel, type Model } from '../stack/servers/model.ts';
import { ensureService } from '../stack/service.ts';
import { type ServiceEnv, serviceEnv, writeStackFile } from '../stack/service-env.ts';
import { stackNames } from '../stack/stack-names.ts';
import { type DemoPorts, demoPorts } from './demo-ports.ts';

export interface DemoStack {
  folders: Folders;
  env: ServiceEnv;
  dependencies: Dependencies;
  model: Model;
}

export function ensureDemoStack(): Promise<DemoStack> {
  const folders = foldersOf(stackNames.demo);
  return withStackLock(stackNames.demo, async () => {
    const ports = await demoPorts(folders);
    try {
      return await bringUp(folders, ports);
    } catch (error) {
      print(
        `\nStarted servers stay up for the next attempt; ${commandHint('npm run stop')} stops them.`,
      );
      throw error;
    }
  });
}

async function bringUp(folders: Folders, ports: DemoPorts): Promise<DemoStack> {
  const [dependencies, model] = await settleAll([
    ensureDependencies(folders, { ports }),
    ensureModel(folders),
  ]);
  const env = serviceEnv(folders, {
    instance: stackNames.demo,
    apiPort: ports.api,
    dependencies,
    model,
  });
  writeStackFile(folders, env);
  await ensureService(folders, env);
  return { folders, env, dependencies, model };
}
