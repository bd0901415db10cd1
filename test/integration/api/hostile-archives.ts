// Archives that are rejected, each with a part of the error message.

import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { limits } from '../../../core/limits.ts';
import { archive, end, entry, longPath, records } from './tar-builder.ts';

type Case = [title: string, body: Buffer, message: RegExp];

const { maxBytes, perRequestMax, pathMaxBytes } = limits.file;
const { archiveEntriesMax, archiveRecordsMaxBytes } = limits.http;
export const folderEntry = (n: number) => ({ name: `${n}/`, type: '5' });
const named = (name: string | Buffer) => archive({ name, content: 'a' });
const typed = (type: string) => archive({ type, at: { 157: '/etc/passwd' } });
const huge = Buffer.alloc(maxBytes);

export const hostileArchives: Case[] = [
  ['a path to the parent folder', named('../a'), /segment \.\./],
  ['a path out of a folder', named('a/../../b'), /segment \.\./],
  ['a path to the parent folder behind ./', named('./../a'), /segment \.\./],
  ['the parent folder itself', named('..'), /segment \.\./],
  ['an absolute path', named('/etc/passwd'), /not relative/],
  ['an absolute path behind ./', named('.//etc/passwd'), /not relative/],
  ['a path with an inner dot', named('a/./b'), /segment \./],
  ['a path with an empty segment', named('a//b'), /empty segment/],
  ['a path with a backslash', named('..\\a'), /backslash/],
  ["a path in git's folder", named('.git/config'), /\.git/],
  ["a path in git's folder in capitals", named('x/.GIT/hooks/post-checkout'), /\.git/],
  ['an empty path', named(''), /empty/],
  ['a file whose path ends with a slash', named('a/'), /empty segment/],
  ['a path with text after a NUL', named('a.txt\0/../../b'), /after the end/],
  ['a path that is not UTF-8', named(Buffer.from([0x61, 0xff])), /UTF-8/],
  ['a segment that is too long', archive(longPath('x'.repeat(256)), {}), /longer than 255/],
  ['a path that is too long', archive(longPath('x/'.repeat(pathMaxBytes / 2) + 'x'), {}), /longer/],
  ['a prefix that leaves the folder', archive({ at: { 345: '../..' } }), /segment \.\./],
  ['a hard link', typed('1'), /a hard link/],
  ['a symbolic link', typed('2'), /a symbolic link/],
  ['a character device', typed('3'), /a device/],
  ['a block device', typed('4'), /a device/],
  ['a named pipe', typed('6'), /a named pipe/],
  ['a contiguous file', typed('7'), /unknown type/],
  ['a volume label', typed('V'), /unknown type/],
  ['a sparse file', typed('S'), /a sparse file/],
  ['a sparse file of pax', archive(records(['GNU.sparse.name', 'b']), {}), /GNU\.sparse/],
  ['a link by a pax record', archive(records(['linkpath', '/etc']), {}), /linkpath/],
  ['another size by a pax record', archive(records(['size', '9']), { content: 'a' }), /size/],
  ['another path by a pax record', archive(records(['path', '../b']), {}), /segment \.\./],
  ['a NUL in a pax record', archive(records(['path', 'b\0c']), {}), /NUL/],
  ['two paths in pax records', archive(records(['path', 'b'], ['path', 'c']), {}), /two paths/],
  ['a pax record of no length', archive({ type: 'x', content: '0 path=b\n' }, {}), /malformed/],
  [
    'a pax record of another length',
    archive({ type: 'x', content: '9 path=bb\n' }, {}),
    /malformed/,
  ],
  [
    'a pax record that is too long',
    archive({ type: 'x', content: '99 path=b\n' }, {}),
    /malformed/,
  ],
  ['a path for all files', archive({ ...records(['path', 'b']), type: 'g' }, {}), /all files/],
  ['a long path that leaves the folder', archive(longPath('../b'), {}), /segment \.\./],
  ['a link with a long target', archive({ type: 'K', content: '/etc\0' }, {}), /long target/],
  ['two long paths for one file', archive(longPath('b'), longPath('c'), {}), /must be the file/],
  ['a long path without its file', archive({}, longPath('b')), /incomplete/],
  ['a path twice', archive({ content: 'a' }, { content: 'b' }), /repeated/],
  ['a path twice, once with ./', archive({ name: 'a' }, { name: './a' }), /repeated/],
  ['a file that is a folder of another', archive({ name: 'a' }, { name: 'a/b' }), /folders/],
  ['a file that is a folder too', archive({ name: 'a/', type: '5' }, { name: 'a' }), /folder/],
  ['a folder outside', archive({ name: '../b/', type: '5' }, {}), /segment \.\./],
  ['a folder with content', archive({ name: 'b', type: '5', content: 'x' }, {}), /with content/],
  ['a wrong checksum', archive({ checksum: '0000001\0' }), /checksum/],
  ['no checksum', archive({ checksum: '        ' }), /checksum/],
  ['an old format', archive({ magic: '\0'.repeat(8) }), /format/],
  ['a text', Buffer.from('hello '.repeat(200)), /checksum/],
  ['a header that is cut off', entry().subarray(0, 300), /incomplete/],
  [
    'a content that is cut off',
    entry({ content: 'x'.repeat(900) }).subarray(0, 1_024),
    /incomplete/,
  ],
  ['no end', entry(), /incomplete/],
  ['half an end', Buffer.concat([entry(), end.subarray(512)]), /two empty blocks/],
  ['text after the end', Buffer.concat([archive({}), Buffer.from('x')]), /nothing after/],
  [
    'another file after the end',
    Buffer.concat([archive({}), archive({ name: 'b' })]),
    /nothing after/,
  ],
  ['a size beyond the end', archive({ size: '00000777777' }), /incomplete/],
  ['the largest size', archive({ size: '77777777777' }), /incomplete/],
  ['a negative size', archive({ size: '-0000000001' }), /size/],
  ['a binary size', archive({ size: Buffer.from(`80${'00'.repeat(10)}01`, 'hex') }), /size/],
  ['a size that is no number', archive({ size: '1x' }), /size/],
  ['a file that is too large', archive({ content: Buffer.alloc(maxBytes + 1) }), /10485760 bytes/],
  [
    'too many bytes in total',
    archive(
      { name: 'a', content: huge },
      { name: 'b', content: huge },
      { name: 'c', content: huge.subarray(5 * 1024 ** 2 - 1) },
    ),
    /in total/,
  ],
  [
    'too many files',
    archive(...Array.from({ length: perRequestMax + 1 }, (_, n) => ({ name: `${n}` }))),
    /at most 100 files/,
  ],
  [
    'too many folders',
    archive(...Array.from({ length: archiveEntriesMax + 1 }, (_, n) => folderEntry(n))),
    /at most 2000 entries/,
  ],
  [
    'too many pax records',
    archive(records(['comment', 'x'.repeat(archiveRecordsMaxBytes)]), {}),
    /524288 bytes/,
  ],
  ['no file', archive({ name: 'a/', type: '5' }), /must have a file/],
  ['nothing', Buffer.alloc(0), /archive/],
];

const small = archive({ content: 'a' });

/** The same for compressed archives. */
export const hostileGzips: Case[] = [
  ['an archive that is not compressed', small, /gzip/],
  ['a compressed archive that is cut off', gzipSync(small).subarray(0, -9), /gzip/],
  ['a wrong checksum of the content', withWrongChecksum(gzipSync(small)), /gzip/],
  [
    'text after the compressed archive',
    Buffer.concat([gzipSync(small), Buffer.from('x')]),
    /after/,
  ],
  ['an archive that is compressed twice', gzipSync(gzipSync(small)), /incomplete|checksum/],
  ['a hostile archive', gzipSync(named('../a')), /segment \.\./],
  ['zeros that fill the memory', gzipSync(Buffer.alloc(64 * 1024 ** 2)), /too large/],
  ['one byte too many', gzipSync(Buffer.alloc(limits.http.archiveMaxBytes + 1)), /too large/],
  ['random bytes', randomBytes(2_000), /gzip/],
];

function withWrongChecksum(compressed: Buffer): Buffer {
  const changed = Buffer.from(compressed);
  changed[changed.length - 8] = (changed.at(-8) ?? 0) ^ 1;
  return changed;
}
