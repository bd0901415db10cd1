import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface ComposeFile {
  services: Record<string, { env_file?: unknown; environment?: Record<string, string> }>;
}

const file = new URL('../../../docker-compose.yml', import.meta.url);
const { services } = parse(readFileSync(file, 'utf8'), { merge: true }) as ComposeFile;

test('a service that reads .env takes its encryption key from the file of secrets alone', () => {
  const reading = Object.entries(services).filter(([, { env_file }]) => env_file !== undefined);
  expect(reading.map(([name]) => name)).toEqual(['migrate', 'api', 'worker']);
  for (const [name, { environment }] of reading)
    expect([name, environment]).toMatchObject([
      name,
      { ENCRYPTION_KEY: '', ENCRYPTION_KEY_FILE: '/secrets/encryption-key' },
    ]);
});
