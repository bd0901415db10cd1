import { readTarEntries } from './read-tar.ts';

/** The parts of Node that are used. They are not imported, so browsers can load this package. */
interface NodeModules {
  'node:fs/promises': {
    mkdir(path: string, options: { recursive: true }): Promise<unknown>;
    rm(path: string, options: { force: true }): Promise<void>;
    realpath(path: string): Promise<string>;
    writeFile(path: string, data: Uint8Array, options: { mode: number; flag: 'wx' }): Promise<void>;
  };
  'node:path': { resolve(...parts: string[]): string; dirname(path: string): string; sep: string };
}

/** Writes the files of an archive below a folder, and returns their paths. */
export async function pullArchive(
  archive: ReadableStream<Uint8Array<ArrayBuffer>>,
  folder: string,
): Promise<string[]> {
  const fs = builtin('node:fs/promises');
  const { resolve, dirname, sep } = builtin('node:path');
  await fs.mkdir(folder, { recursive: true });
  const root = await fs.realpath(folder);
  const paths: string[] = [];
  for await (const { path, mode, content } of readTarEntries(archive)) {
    const target = resolve(root, path);
    if (!target.startsWith(`${root}${sep}`)) throw outside(path);
    await fs.mkdir(dirname(target), { recursive: true });
    // A link in the folder could lead out of it.
    const parent = await fs.realpath(dirname(target));
    if (parent !== root && !parent.startsWith(`${root}${sep}`)) throw outside(path);
    await fs.rm(target, { force: true });
    await fs.writeFile(target, content, { mode: mode & 0o777, flag: 'wx' });
    paths.push(path);
  }
  return paths;
}

const outside = (path: string) => new TypeError(`The path ${path} leads out of the folder.`);

function builtin<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): unknown };
  };
  const module = process?.getBuiltinModule?.(name);
  if (module === undefined) throw new TypeError('Writing files needs Node 20.16, Bun or Deno.');
  return module as NodeModules[Name]; // the modules of Node
}
