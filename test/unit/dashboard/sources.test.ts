// What the code of the page must not contain.

import { describe, expect, test } from 'vitest';
import { ownFiles, readOwnFile } from '../structure/source-files.ts';

const sources = ownFiles().filter((file) => /^dashboard\/.*\.tsx?$/.test(file));

const forbidden: Record<string, RegExp> = {
  'parses text as HTML': /innerHTML|outerHTML|insertAdjacentHTML|DOMParser|document\.write/i,
  'runs text as code': /\beval\(|new Function\b/,
  'bypasses the client of the API': /\bfetch\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon/,
};

describe('the code of the page', () => {
  test.each(Object.entries(forbidden))('never %s', (_name, pattern) => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.filter((file) => pattern.test(readOwnFile(file)))).toEqual([]);
  });

  test('is recognized if it does', () => {
    const texts = ['<p dangerouslySetInnerHTML={x} />', 'new Function(text)', 'await fetch(url)'];
    const patterns = Object.values(forbidden);
    expect(texts.every((text, at) => patterns[at]?.test(text))).toBe(true);
  });
});
