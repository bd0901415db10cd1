// The tests of the Python client that are written in Python, and the checks of its sources.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { errorStatuses } from '../../../api/errors.ts';
import { cacheFolder, repository } from '../../../dev/lib/folders.ts';
import { pageOf } from '../../support/pages.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { standardVector } from '../../support/standard-webhook-vector.ts';

const client = join(repository, 'client-python');
const ownPrograms = [import.meta.dirname, join(repository, 'test/support/clients')];
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  PYTHONPATH: client,
  PYTHONDONTWRITEBYTECODE: '1',
  STANDARD_VECTOR: JSON.stringify(standardVector),
};

/** Throws an error with the output of the program if it fails. */
async function python(...args: string[]): Promise<string> {
  const running = promisify(execFile)(stackEnv.python, args, { cwd: client, env });
  const { stdout, stderr } = await running.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return `${stdout}\n${stderr}`;
}

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.py'));

test.each(files)('%s passes', async (file) => {
  expect(await python(join(import.meta.dirname, file))).toMatch(/Ran [1-9]\d* tests[^]*OK/);
});

test('has a class for each code of the service, and for no other', () => {
  const text = readFileSync(join(client, 'flowrun/errors.py'), 'utf8');
  const classes = [...text.matchAll(/^ {4}"(\w+)": (\w+),$/gm)];
  expect(classes.map(([, code]) => code).sort()).toEqual(Object.keys(errorStatuses).sort());
  expect(new Set(classes.map(([, , name]) => name)).size).toBe(classes.length);
});

test('is formatted and linted', async () => {
  await python('-m', 'ruff', 'format', '--no-cache', '--check', '.', ...ownPrograms);
  await python('-m', 'ruff', 'check', '--no-cache', '.', ...ownPrograms);
});

test('passes strict type checks, and so do the examples of its page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const examples = [...pageOf('docs/client-python.md').matchAll(/```python\n(.*?)```/gs)];
  expect(examples.length).toBeGreaterThan(5);
  const written = examples.map(([, text = ''], index) => {
    const file = join(folder, `example_${index}.py`);
    writeFileSync(file, text);
    return file;
  });
  const cache = join(cacheFolder(), 'mypy', dirname(stackEnv.python).replaceAll('/', '_'));
  const program = join(repository, 'test/support/clients/run_story.py');
  const options = ['--cache-dir', cache, '--config-file', join(client, 'pyproject.toml')];
  await python('-m', 'mypy', ...options, join(client, 'flowrun'), program, ...written);
  const misuse = join(folder, 'misuse.py');
  writeFileSync(misuse, 'from flowrun import Flowrun\n\nFlowrun().run("writer", prompt=1)\n');
  await expect(python('-m', 'mypy', ...options, misuse)).rejects.toThrow('[call-overload]');
});

test('uses only the grammar of Python 3.9', async () => {
  const program = `
import ast, pathlib
for path in pathlib.Path("flowrun").rglob("*.py"):
    ast.parse(path.read_text(), feature_version=(3, 9))
`;
  await python('-c', program);
  await expect(
    python('-c', 'import ast; ast.parse("match a:\\n case 1: 1", feature_version=(3, 9))'),
  ).rejects.toThrow('SyntaxError');
});
