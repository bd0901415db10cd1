import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../../config/config-error.ts';
import { readStackFile } from '../../../config/local-stack-file.ts';

function folderWith(text: string | null): { FLOWRUN_DATA: string } {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-stack-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'demo'));
  if (text !== null) writeFileSync(join(folder, 'demo', 'stack.json'), text);
  return { FLOWRUN_DATA: folder };
}

test("the local stack's settings are read from its description, if it exists", () => {
  expect(readStackFile(folderWith('{"API_PORT":"1"}'))).toEqual({ API_PORT: '1' });
  expect(readStackFile(folderWith(null))).toBeNull();
});

test.each(['', '{"API_PO', '[]', '{"API_PORT":1}'])(
  'a description that is %j is rejected',
  (text) => {
    expect(() => readStackFile(folderWith(text))).toThrow(ConfigError);
  },
);
