import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { readTarEntries } from '../../client/files/read-tar.ts';
import type { Flow } from '../../client/generated/types.ts';
import { checkInputPath } from '../../core/files/file-path.ts';
import { CliError } from '../format-error.ts';
import type { FlowService } from './flow-service.ts';
import { flowFileName, readFlowFolder } from './read-folder.ts';
import { fileNames, filesFolder, writeFlowFile } from './write-flow-file.ts';

interface Options {
  folder: string;
  /** Deletes the flows that the folder has. Other files stay. */
  replace: boolean;
}

/** Writes the flows of a project in the order of their names, and returns the paths. */
export async function exportFolder(
  service: FlowService,
  { folder, replace }: Options,
): Promise<string[]> {
  const flows = (await service.list({ isArchived: false })).sort(byName);
  mkdirSync(folder, { recursive: true });
  if (replace) deleteFlows(folder);
  else if (readdirSync(folder).length > 0)
    throw new CliError(`${folder} is not empty. With --replace, its flows are deleted first.`);
  const names = fileNames(flows);
  const paths: string[] = [];
  for (const [index, flow] of flows.entries()) {
    const name = names[index] ?? flow.flowId;
    paths.push(...(await writeFlow(service, flow, join(folder, name))));
  }
  return paths;
}

/** Flows with the same name have the order of their creation. */
const byName = (a: Flow, b: Flow): number => (a.name < b.name ? -1 : Number(a.name > b.name));

function deleteFlows(folder: string): void {
  for (const { flow, files } of readFlowFolder(folder).flows) {
    for (const { path } of files) rmSync(join(dirname(flow.file), filesFolder, path));
    rmSync(flow.file);
  }
}

/** A flow with files has its own folder. */
async function writeFlow(service: FlowService, flow: Flow, place: string): Promise<string[]> {
  const paths: string[] = [];
  const hasFiles = (await service.files(flow.flowId)).length > 0;
  if (hasFiles) {
    const root = resolve(place, filesFolder);
    for await (const { path, mode, content } of readTarEntries(
      await service.archive(flow.flowId),
    )) {
      const target = resolve(root, path);
      if (!checkInputPath(path).ok || !target.startsWith(`${root}${sep}`))
        throw new CliError(`The archive of ${flow.name} has the path ${JSON.stringify(path)}.`);
      paths.push(writeNew(target, content, mode));
    }
  }
  const file = hasFiles ? join(place, flowFileName) : `${place}.md`;
  return [writeNew(file, writeFlowFile(flow), 0o644), ...paths];
}

/** Fails if the file exists, so that files which are not flows are never overwritten. */
function writeNew(path: string, content: string | Uint8Array, mode: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode, flag: 'wx' });
  return path;
}
