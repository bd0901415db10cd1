import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, stripControlCodes, stripUnstorable } from '../../../core/sanitize-text.ts';

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});

test('stripUnstorable removes NUL and lone surrogates', () => {
  expect(stripUnstorable('a\0b\ud800c😀\udc00')).toBe('a�b�c😀�');
  fc.assert(fc.property(anyText, (text) => stripUnstorable(text).length === text.length));
});

test('stripControlCodes removes control sequences and is idempotent', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const readable = stripControlCodes(text);
      expect(readable).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      expect(readable).not.toMatch(/[\ud800-\udfff]/u);
      expect(stripControlCodes(readable)).toBe(readable);
    }),
  );
});

test('oneLine truncates between whole characters', () => {
  expect(oneLine(' a\n\tb ', 10)).toBe('a b');
  expect(oneLine('abcdef', 6)).toBe('abcdef');
  expect(oneLine('abcdefg', 6)).toBe('abcde…');
  expect(oneLine('abcd😀fg', 6)).toBe('abcd…');
  expect(oneLine('abc😀fg', 6)).toBe('abc😀…');
});
