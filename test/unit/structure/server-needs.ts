import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importGraph, reachableFrom } from './import-graph.ts';

interface ServerModules {
  /** Files and folders that start or need servers, with the reason. */
  modules: Record<string, string>;
  /** Programs that start, build or download something. */
  programs: string[];
  /** Files that unit tests may import although they import such a module, with the reason. */
  exceptions: Record<string, string>;
}

const table = JSON.parse(
  readFileSync(join(import.meta.dirname, 'server-modules.json'), 'utf8'),
) as ServerModules; // structure.test.ts checks that its paths exist

const serverModules = Object.keys(table.modules);
const exceptions = Object.keys(table.exceptions);
export const serverTablePaths = [...serverModules, ...exceptions];

/** Type imports start nothing. */
const typeImport = /^(?:import|export) type\b[^;]*;/gm;
const call = /\b(?:spawn|exec|execFile|runCommand)(?:Sync)?\(\s*'([^'\s]+)/g;

/** The reasons why files of a folder need a server, also through other files. */
export function serverNeeds(
  folder: string,
  { files, read }: { files: string[]; read: (file: string) => string },
): string[] {
  const followed = files.filter((file) => !exceptions.includes(file));
  const graph = importGraph(followed, (file) => read(file).replace(typeImport, ''));
  return files
    .filter((file) => file.startsWith(`${folder}/`))
    .flatMap((file) => {
      const reached = [...reachableFrom(graph, file)].filter(isServerModule);
      const called = [...read(file).matchAll(call)].map(([, program = '']) => program);
      const needs = [...reached, ...called.filter((program) => table.programs.includes(program))];
      return needs.map((need) => `${file}: ${need}`);
    });
}

function isServerModule(file: string): boolean {
  return serverModules.some((path) => file === path || file.startsWith(`${path}/`));
}
