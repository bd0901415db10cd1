import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Every Node of this machine, so that the oldest supported one is tested where it is installed. */
export function installedNodes(): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const programs = [process.execPath, ...folders.map((folder) => join(folder, 'node'))];
  return [...new Set(programs.map(pathOf))].filter((program) => program !== null);
}

function pathOf(program: string): string | null {
  try {
    return realpathSync(program);
  } catch {
    return null;
  }
}
