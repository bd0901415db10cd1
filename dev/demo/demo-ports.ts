// The ports that a reader types are fixed, so another program may use them. This is checked before
// anything is installed or built.

import type { Folders } from '../lib/folders.ts';
import { SetupError } from '../lib/setup-error.ts';
import { isRunning } from '../stack/daemon.ts';
import { isPortFree } from '../stack/ports.ts';

export interface DemoPorts {
  api: number;
  grpc: number;
  ui: number;
}

export async function demoPorts(folders: Folders): Promise<DemoPorts> {
  const { TEMPORAL_ADDRESS } = process.env;
  const take = (server: string, variable: string, fallback: number) =>
    takePort(isRunning(folders, server), variable, fallback);
  const api = await take('api', 'FLOWRUN_API_PORT', 8080);
  if (TEMPORAL_ADDRESS) return { api, grpc: 0, ui: 0 };
  return {
    api,
    grpc: await take('temporal', 'FLOWRUN_TEMPORAL_PORT', 7233),
    ui: await take('temporal', 'FLOWRUN_TEMPORAL_UI_PORT', 8233),
  };
}

async function takePort(isOurs: boolean, variable: string, fallback: number): Promise<number> {
  const port = Number(process.env[variable] ?? fallback);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new SetupError(`${variable} is ${process.env[variable]}, which is not a port.`);
  }
  if (isOurs || (await isPortFree(port))) return port;
  throw new SetupError(
    `Port ${port} is in use by another program. Set ${variable} to a free port.`,
  );
}
