// What a fresh clone needs before the first line of TypeScript can run: the right Node, and the
// packages of the lock file. Plain JavaScript without dependencies, shared by the entry files.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '..');
const oldestNode = [20, 20];

/** Runs dev/<name>.ts in this process, so that signals reach it as they are. */
export async function runTypeScript(name) {
  checkNode();
  if (!isInstalled()) install();
  const { register } = await import('tsx/esm/api');
  register();
  await import(`./${name}.ts`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  giveUp(`Node ${oldestNode.join('.')} or newer is needed; this is ${process.versions.node}.`);
}

/** npm's own record of what it installed is compared with the lock file, package by package. */
function isInstalled() {
  const wanted = packagesIn(join(repository, 'package-lock.json'));
  const installed = packagesIn(join(repository, 'node_modules/.package-lock.json'));
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return installed[path] === undefined ? optional === true : installed[path].version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return {};
  }
}

function install() {
  const begun = Date.now();
  process.stdout.write('packages       npm ci …\n');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) giveUp('npm ci failed: is the npm registry in reach?');
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`packages       installed (${seconds} s)\n`);
}

function giveUp(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}
