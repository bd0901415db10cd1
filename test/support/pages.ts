import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../dev/lib/folders.ts';

interface Page {
  /** Relative to the repository. */
  path: string;
  text: string;
}

const atTop = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md'];
const inFolder = readdirSync(join(repository, 'docs'), {
  recursive: true,
  encoding: 'utf8',
}).filter((file) => file.endsWith('.md'));

/** The pages for users, operators and contributors. */
export const pages: Page[] = [...atTop, ...inFolder.map((file) => `docs/${file}`)].map((path) => ({
  path,
  text: readFileSync(join(repository, path), 'utf8'),
}));

export function pageOf(path: string): string {
  const match = pages.find((page) => page.path === path);
  if (match === undefined) throw new Error(`no page ${path}`);
  return match.text;
}

/** Code between backticks and in code blocks, with the path of its page. */
export function codeIn({ path, text }: Page): { path: string; code: string }[] {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const prose = text.replaceAll(/^```.*?^```$/gms, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return [...blocks, ...spans].map((code) => ({ path, code: code.replaceAll('\n', ' ') }));
}

const folders = [
  ...['api', 'activities', 'cli', 'client-python', 'config', 'core', 'deploy', 'dev', 'ops'],
  ...['lib', 'offline-model', 'sandbox', 'systems', 'worker', 'workflows'],
];

/** All sources of the service, or of some folders, as one text. */
export function readSource(of: string[] = folders): string {
  const files = of.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (file) => /\.(ts|mjs|py|sql|yml|json|sh)$/.test(file) && !file.includes('node_modules'),
      )
      .map((file) => join(repository, folder, file)),
  );
  const all = [...files, join(repository, 'docker-compose.yml')];
  return all.map((file) => readFileSync(file, 'utf8')).join('\n');
}
