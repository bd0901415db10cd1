// The stack that `npm run demo` and `npm start` bring up and `npm run stop` ends.

import { all } from './all.ts';
import { byHand } from './by-hand.ts';
import { type DemoPorts, demoPorts } from './demo-ports.ts';
import { type Folders, foldersOf } from './folders.ts';
import { withStackLock } from './lock.ts';
import { ensureOutside, type Outside } from './outside.ts';
import { ensureModel, type Model } from './parts/model.ts';
import { say } from './progress.ts';
import { ensureService } from './service.ts';
import { type ServiceEnv, serviceEnv, writeStackFile } from './service-env.ts';

export interface DemoStack {
  folders: Folders;
  env: ServiceEnv;
  outside: Outside;
  model: Model;
}

export const demoName = 'demo';

export function ensureDemoStack(): Promise<DemoStack> {
  const folders = foldersOf(demoName);
  return withStackLock(demoName, async () => {
    const ports = await demoPorts(folders);
    try {
      return await bringUp(folders, ports);
    } catch (error) {
      say(`\nWhat has been started stays up for the next try; ${byHand('npm run stop')} ends it.`);
      throw error;
    }
  });
}

async function bringUp(folders: Folders, ports: DemoPorts): Promise<DemoStack> {
  const [outside, model] = await all([ensureOutside(folders, ports), ensureModel(folders)]);
  const env = serviceEnv(folders, { instance: demoName, apiPort: ports.api, outside, model });
  writeStackFile(folders, env);
  await ensureService(folders, env);
  return { folders, env, outside, model };
}
