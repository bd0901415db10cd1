import { isUtf8 } from 'node:buffer';
import { invalid } from '../../errors.ts';

/** Records that change what a file is. All others describe owners, times and so on. */
const rejectedKeys = /^(linkpath|size|hdrcharset|GNU\.sparse\..*)$/;

/** The path in the records `<length> <key>=<value>\n`; null if they have none. */
export function pathOfRecords(records: Buffer, label: string): string | null {
  let path: string | null = null;
  for (let at = 0; at < records.length; ) {
    const [, digits = ''] = /^([1-9]\d{0,7}) /.exec(records.toString('latin1', at, at + 10)) ?? [];
    const end = at + Number(digits);
    const record = records.subarray(at + digits.length + 1, end);
    const equals = record.indexOf('=');
    if (digits === '' || end > records.length || equals < 1 || record.at(-1) !== 0x0a) {
      throw invalid(`${label}: has a malformed pax record`);
    }
    if (!isUtf8(record)) throw invalid(`${label}: its pax records must be UTF-8`);
    const key = record.toString('utf8', 0, equals);
    if (rejectedKeys.test(key)) throw invalid(`${label}: must not have the pax record ${key}`);
    if (key === 'path') {
      if (path !== null) throw invalid(`${label}: must not have two paths`);
      path = record.toString('utf8', equals + 1, record.length - 1);
    }
    at = end;
  }
  return path;
}
