// An independent fuzzer reads the OpenAPI document and tests that the service does what it says:
// every status and body is described, and a request that fits the description is accepted.
// `npm run test:openapi` installs it.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Node } from '../../api/openapi/json-tree.ts';
import { buildStubApi } from '../../dev/docs-gen/stub-api.ts';
import { publicUrl } from '../support/api-fixture.ts';
import { readReport } from './findings.ts';
import { type FuzzedService, openFuzzedService, withIds } from './fuzzed-service.ts';

const program = process.env['SCHEMATHESIS'] ?? 'schemathesis';
/** Requests to each operation, in each of two phases. */
const examples = process.env['OPENAPI_EXAMPLES'] ?? '25';

let service: FuzzedService;
let folder: string;
beforeAll(async () => {
  service = await openFuzzedService();
  folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const app = await buildStubApi(service.url);
  const document = JSON.parse(JSON.stringify(app.swagger())) as Node;
  await app.close();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(withIds(document, service.ids)));
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

/** Archives have their own tests: Schemathesis makes none. */
const archives = 'upload(Flow)?(Compressed)?Archive';

test('the operations with a key do what their description says', async () => {
  await expectDescribed('keys', [
    ...['--include-path-regex', '^/api/v1/', '--exclude-operation-id-regex', archives],
    ...['-H', `Authorization: Bearer ${service.key}`],
  ]);
});

test('the operations for operators do what their description says', async () => {
  // Signing out would end the session of the test.
  await expectDescribed('operators', [
    ...['--include-path-regex', '^/api/(?!v1/)', '--exclude-operation-id-regex', 'sign(In|Out)'],
    ...['-H', `Cookie: ${service.cookie}`, '-H', `Origin: ${publicUrl}`],
  ]);
});

async function expectDescribed(name: string, args: string[]): Promise<void> {
  const report = join(folder, name);
  const run = [
    ...['run', 'openapi.json', '--url', service.url, '--max-examples', examples],
    ...['--phases', 'examples,coverage,fuzzing', '--continue-on-failure', '--no-color'],
    ...['--request-timeout', '20', '--max-redirects', '0', '--suppress-health-check', 'all'],
    ...['--warnings', 'off', '--report', 'ndjson', '--report-dir', report, '--no-shrink'],
  ];
  const output = await outputOf([...run, ...args]);
  const [file = ''] = readdirSync(report);
  const { requests, findings } = readReport(readFileSync(join(report, file), 'utf8'));
  console.log(`${name}: ${requests} requests, ${findings.length} findings`);
  expect(requests, output).toBeGreaterThan(1_000);
  expect(findings).toEqual([]);
  expect(output).not.toMatch(/^Errors:$/m);
}

/** It leaves with an error for findings as well, so its code is not used. */
function outputOf(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve(`${stdout}${stderr}`);
    });
  });
}
