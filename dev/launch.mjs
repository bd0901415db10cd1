#!/usr/bin/env node
// Starts a TypeScript program of this repository: `node dev/launch.mjs <program> [argument …]`.
// Under the name `flowrun` it starts the command line. If this Node cannot run TypeScript, a newer
// one is fetched once and the program runs under it. Plain JavaScript without dependencies: this
// file must run on an older Node and without node_modules.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const commandLine = 'deploy/command-line.ts';
const firstToStripTypes = '22.18';
/** Pins the version and the hash of the Node that is fetched. */
const pinFile = join(repository, 'dev/from-source/base-image/package-lock.json');

await launch();

async function launch() {
  const isCommandLine = basename(process.argv[1]) === 'flowrun';
  const [program, ...args] = [...(isCommandLine ? [commandLine] : []), ...process.argv.slice(2)];
  if (program === undefined) fail('Usage: node dev/launch.mjs <program> [argument …]');
  if (!stripsTypes()) return continueUnder(ensureNode());
  if (!isCommandLine) ensurePackages();
  else if (!existsSync(join(repository, 'node_modules'))) {
    fail('The packages are not installed. Run `npm ci` first.');
  }
  const file = resolve(repository, program);
  process.argv = [process.execPath, file, ...args];
  await import(pathToFileURL(file).href);
}

function stripsTypes() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [firstMajor, firstMinor] = firstToStripTypes.split('.').map(Number);
  return major > firstMajor + 1 || (major === firstMajor && minor >= firstMinor);
}

/** The path of a newer Node, from the cache or from the npm registry. */
function ensureNode() {
  const name = `node-${process.platform}-${process.arch}`;
  const pin = packagesIn(pinFile)[`node_modules/${name}`];
  const need = `Node ${firstToStripTypes} or newer is needed; this is ${process.versions.node}.`;
  if (pin === undefined) fail(`${need} Install Node 24: none can be fetched for ${name}.`);
  const cache = resolve(process.env.FLOWRUN_CACHE ?? join(homedir(), '.cache/flowrun'));
  const folder = join(cache, `${name}-${pin.version}`);
  const program = join(folder, 'bin/node');
  if (existsSync(program)) return program;
  process.stderr.write(`Fetching Node ${pin.version}; this is ${process.versions.node}.\n`);
  try {
    fetchNode(cache, { name, pin, folder });
  } catch (error) {
    fail(`${need} Fetching Node ${pin.version} failed: ${error.message}\nInstall Node 24.`);
  }
  return program;
}

/**
 * Creates the folder atomically. If two processes fetch concurrently, the first one wins.
 */
function fetchNode(cache, { name, pin, folder }) {
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(`${folder}.`);
  try {
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
    const target = ['--global=false', '--prefix', part, `${name}@${pin.version}`];
    run('npm', ['install', '--loglevel=error', ...flags, ...target], { cwd: part });
    const installed = packagesIn(join(part, 'node_modules/.package-lock.json'));
    if (installed[`node_modules/${name}`]?.integrity !== pin.integrity) {
      throw new Error('the package differs from the pinned one.');
    }
    const unpacked = join(part, 'node_modules', name);
    run(join(unpacked, 'bin/node'), ['--version']);
    moveUnlessThere(unpacked, folder);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function moveUnlessThere(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

function run(command, args, options = {}) {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (error !== undefined) throw new Error(`${command} cannot be started (${error.code}).`);
  if (status !== 0) throw new Error(`${command} ended with ${status}.\n${stderr.trim()}`);
}

/** Repeats this call under another Node, which comes first on PATH for child processes. */
function continueUnder(node) {
  const path = [dirname(node), process.env.PATH].filter(Boolean).join(delimiter);
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  child.on('error', (error) => fail(`${node} cannot be started: ${error.message}`));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
  for (const signal of signals) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C and Ctrl-\ to the child as well, which must not get them twice.
      const isFromTerminal = signal !== 'SIGTERM' && process.stdin.isTTY;
      if (!isFromTerminal) child.kill(signal);
    });
  }
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function ensurePackages() {
  if (isInstalled()) return;
  const started = Date.now();
  process.stderr.write('packages       npm ci …\n');
  try {
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: repository });
  } catch (error) {
    fail(`The packages cannot be installed: ${error.message}\nIs the npm registry reachable?`);
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stderr.write(`packages       installed (${seconds} s)\n`);
}

/** Compares npm's own record of the installed packages with the lock file. */
function isInstalled() {
  const locked = packagesIn(join(repository, 'package-lock.json'));
  const installed = packagesIn(join(repository, 'node_modules/.package-lock.json'));
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return installed[path] === undefined ? optional === true : installed[path].version === version;
  });
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return {};
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
