import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkInputPath } from '../../core/files/file-path.ts';
import { limits } from '../../core/limits.ts';
import type { FileProblem } from './front-matter.ts';
import { type FlowFile, parseFlowFile } from './parse-flow-file.ts';
import { filesFolder } from './write-flow-file.ts';

export interface LocalFile {
  path: string;
  sha256: string;
  content: Buffer;
  mode: '0644' | '0755';
}

export interface LocalFlow {
  flow: FlowFile;
  files: LocalFile[];
}

interface FolderContent {
  flows: LocalFlow[];
  problems: FileProblem[];
}

/** The name of a flow's file in a folder that is named for the flow. */
export const flowFileName = 'flow.md';

/**
 * Reads the flows of a folder and of those below it, in the order of their paths. Every Markdown
 * file is a flow, except a README without front matter.
 */
export function readFlowFolder(folder: string): FolderContent {
  const { flows, problems } = readLevel(folder);
  flows.sort((a, b) => (a.flow.file < b.flow.file ? -1 : 1));
  return { flows, problems: [...problems, ...sharedNames(flows)] };
}

function readLevel(folder: string): FolderContent {
  const entries = sortedEntries(folder).filter(({ name }) => !name.startsWith('.'));
  const content: FolderContent = { flows: [], problems: [] };
  for (const entry of entries.filter(isMarkdown)) readFlow(join(folder, entry.name), content);
  const own = content.flows.length > 0 || content.problems.length > 0;
  if (own && entries.some(isFilesFolder)) addFiles(folder, content);
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name === 'node_modules') continue;
    if (own && isFilesFolder(entry)) continue;
    const below = readLevel(join(folder, entry.name));
    content.flows.push(...below.flows);
    content.problems.push(...below.problems);
  }
  return content;
}

const isMarkdown = (entry: Dirent): boolean => entry.isFile() && /\.md$/i.test(entry.name);
const isFilesFolder = (entry: Dirent): boolean => entry.isDirectory() && entry.name === filesFolder;

function readFlow(file: string, { flows, problems }: FolderContent): void {
  const name = basename(file) === flowFileName ? basename(dirname(file)) : basename(file, '.md');
  const text = decode(readFileSync(file));
  const parsed = text === null ? notText(file) : parseFlowFile({ file, text, defaultName: name });
  if (parsed === null) {
    if (!/^readme\.md$/i.test(basename(file)))
      problems.push({ file, line: 1, field: null, message: 'has no front matter' });
  } else if ('problems' in parsed) problems.push(...parsed.problems);
  else flows.push({ flow: parsed.flow, files: [] });
}

function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const notText = (file: string) => ({
  problems: [{ file, line: 1, field: null, message: 'is not UTF-8' }],
});

/** The files belong to the only flow beside them. */
function addFiles(folder: string, { flows, problems }: FolderContent): void {
  const [only, another] = flows;
  const path = join(folder, filesFolder);
  if (another !== undefined) {
    const message = 'is beside several flows: give the flow that it belongs to its own folder';
    problems.push({ file: path, line: 1, field: null, message });
  } else if (only !== undefined) {
    only.files.push(...filesBelow(path, '', problems));
    const fault = sizeFault(only.files);
    if (fault !== null) problems.push({ file: path, line: 1, field: null, message: fault });
  }
}

/** The files of a flow are sent in one request. */
function sizeFault(files: readonly LocalFile[]): string | null {
  const { perRequestMax, perRequestMaxBytes } = limits.file;
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  if (files.length > perRequestMax)
    return `has ${files.length} files; the maximum is ${perRequestMax}`;
  if (bytes > perRequestMaxBytes) return `has ${bytes} bytes; the maximum is ${perRequestMaxBytes}`;
  return null;
}

function filesBelow(folder: string, prefix: string, problems: FileProblem[]): LocalFile[] {
  return sortedEntries(folder).flatMap((entry) => {
    const [file, path] = [join(folder, entry.name), `${prefix}${entry.name}`];
    if (entry.isDirectory()) return filesBelow(file, `${path}/`, problems);
    const check = checkInputPath(path);
    const fault = entry.isFile() ? (check.ok ? null : check.reason) : 'is neither file nor folder';
    if (fault === null) return [localFile(file, path)];
    problems.push({ file, line: 1, field: null, message: fault });
    return [];
  });
}

function localFile(file: string, path: string): LocalFile {
  const content = readFileSync(file);
  const isExecutable = (statSync(file).mode & 0o100) !== 0;
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path, sha256, content, mode: isExecutable ? '0755' : '0644' };
}

function sharedNames(flows: readonly LocalFlow[]): FileProblem[] {
  const seen = new Map<string, string>();
  return flows.flatMap(({ flow: { name, file, lineOf } }) => {
    const first = seen.get(name);
    seen.set(name, first ?? file);
    const message = `${first} has this name too`;
    return first === undefined ? [] : [{ file, line: lineOf(['name']), field: 'name', message }];
  });
}

/** The order does not depend on the file system. */
const sortedEntries = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
