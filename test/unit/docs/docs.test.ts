// Names in the pages must exist, so that a reader who follows a page finds them.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import type { CliDeps } from '../../../cli/deps.ts';
import { createProgram } from '../../../cli/program.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { codeIn, pageOf, pages, readSource } from '../../support/pages.ts';

const code = pages.flatMap(codeIn);
const source = readSource();
const folders = readdirSync(repository, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .map(({ name }) => name);
const compose = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');

test('every link leads to an existing file and heading', () => {
  const dead = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^https?:/.test(target) && !leadsSomewhere(path, target))
      .map((target) => `${path}: ${target}`),
  );
  expect(dead).toEqual([]);
  expect(leadsSomewhere('README.md', 'docs/operate.md#no-such-heading')).toBe(false);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? join(repository, from) : join(repository, dirname(from), file);
  if (!existsSync(path)) return false;
  if (anchor === undefined || statSync(path).isDirectory()) return anchor === undefined;
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].some(([, heading = '']) => anchorOf(heading) === anchor);
}

test('every file and folder of the repository named in a page exists', () => {
  const named = code.flatMap(({ path, code: text }) =>
    filesNamed(text).map((file) => ({ path, file })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file }) => !existsSync(join(repository, file)))).toEqual([]);
  expect(filesNamed('read `core/gone.ts`, /var/lib/core/a and cli/open-*.ts')).toEqual([
    'core/gone.ts',
  ]);
});

function filesNamed(text: string): string[] {
  const paths = [...text.matchAll(/(?<![\w./:<-])[\w.-]+\/[\w./-]*(?![\w./*-])/g)].map(
    ([path]) => path,
  );
  return paths.filter((path) => folders.includes(path.split('/')[0] ?? ''));
}

test('the README is short, and begins with the commands of a first start', () => {
  const lines = pageOf('README.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  const start = lines.slice(0, 40).join('\n');
  for (const command of ['docker compose up -d --wait', 'npm run demo', 'npm test'])
    expect(start).toContain(command);
});

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Programs and settings of Postgres. */
const ofPostgres = new Set(['pg_dumpall', 'pg_upgrade', 'synchronous_standby_names']);

test('every event, code, cause, column and metric named in a page exists', () => {
  const named = code.filter((one) => /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(one.code));
  expect(named.length).toBeGreaterThan(50);
  const words = new Set(source.match(/[a-z][a-z0-9]*(_[a-z0-9]+)+/g));
  const unknown = named.filter(({ code: name }) => !words.has(name) && !isOfCompose(name));
  expect(unknown.filter(({ code: name }) => !ofPostgres.has(name))).toEqual([]);
});

/** A volume or network of the compose file, with or without the prefix of the project's name. */
function isOfCompose(name: string): boolean {
  const own = name.replace(/^flowrun_/, '');
  const [, volumes = ''] = compose.split(/^volumes:$/m);
  return ['default', 'worker_data'].includes(own) || new RegExp(`^  ${own}:`, 'm').test(volumes);
}

test('every setting named in a page exists', () => {
  const known = pageOf('docs/settings.md');
  const unknown = code
    .flatMap((one) =>
      [...one.code.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([name]) => ({
        ...one,
        name: name.replace(/_FILE$/, ''),
      })),
    )
    .filter(({ name }) => !known.includes(name) && !isOfOthers(name));
  expect(unknown.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});

/** Files with the codes of the interface, and with the variables of clients. */
const namingFiles = [
  'api/errors.ts',
  'client/flowrun.ts',
  'config/cli/operator-config.ts',
  'cli/remote/operators/operator-connection.ts',
];

/** Names that another program reads, and variables of examples. */
const otherNames = [
  ...['COMPOSE_FILE', 'DAC_OVERRIDE', 'SYS_ADMIN'],
  ...['REVIEWER_TOKEN', 'MCP_DOCS'],
];

/** Variables of GitHub's runners, and of the programs in recipes. */
const ofRecipes = /^(?:GH|GITHUB|SLACK)_|^WEBHOOK_SECRET$/;

const isOfOthers = (name: string): boolean =>
  namingFiles.some((file) =>
    new RegExp(`\\b${name}\\b`).test(readFileSync(join(repository, file), 'utf8')),
  ) ||
  otherNames.includes(name) ||
  ofRecipes.test(name);

test('every command and option in a page exists', () => {
  const lines = code.flatMap((one) =>
    [...one.code.matchAll(/(?:^|\.\/|npx |api |worker |&& |backup )flowrun ([^|><#]+)/g)].map(
      ([, line = '']) => ({ ...one, line: line.trim() }),
    ),
  );
  expect(lines.length).toBeGreaterThan(20);
  const wrong = lines.map(({ path, line }) => ({ path, line, why: wrongIn(line) }));
  expect(wrong.filter(({ why }) => why !== null)).toEqual([]);
  expect(wrongIn('host empty <host>')).toContain('no command');
  expect(wrongIn('doctor --repair')).toContain('no option');
});

function wrongIn(line: string): string | null {
  const words = line.split(/\s+/);
  let command = createProgram({} as CliDeps); // no command runs
  let isVerb = true;
  for (const word of words) {
    if (word.startsWith('--')) {
      isVerb = false;
      const [name = ''] = word.split('=');
      if (!optionsOf(command).includes(name)) return `no option ${name}`;
    } else if (isVerb && command.commands.length > 0 && /^[a-z-]+$/.test(word)) {
      const found: Command | undefined = command.commands.find((each) => each.name() === word);
      if (found === undefined) return `no command ${word}`;
      command = found;
    }
  }
  return null;
}

const optionsOf = (command: Command): (string | undefined)[] => [
  '--help',
  '--json',
  ...command.options.map(({ long }) => long),
];

test('every npm script in a page exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = code.flatMap((one) =>
    [...one.code.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test('the troubleshooting table lists exactly the findings of the doctor', () => {
  const inCode = readSource(['cli/doctor']).matchAll(/\bcode: ['`]((?:\$\{store\}_)?[a-z_]+)['`]/g);
  const ofChecks = [...inCode].map(([, name = '']) => name.replace('${store}', '…'));
  const faults = ['runtime_missing', 'runtime_unusable'];
  const ofDoctor = new Set([...ofChecks, ...faults, ...faults.map((fault) => `host_${fault}`)]);
  const table = pageOf('docs/troubleshooting.md');
  const documented = [...table.matchAll(/`\[([a-z_…]+)\]`/g)].map(([, name = '']) => name);
  expect([...new Set(documented)].toSorted()).toEqual([...ofDoctor].toSorted());
});
