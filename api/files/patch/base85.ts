const alphabet = Buffer.from(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
);

/** The maximum number of bytes in a line. */
export const base85LineBytes = 52;

/** Git's lines of binary data. Each begins with a letter for the number of its bytes. */
export function base85Lines(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += base85LineBytes) {
    lines.push(lineOf(bytes.subarray(at, at + base85LineBytes)));
  }
  return Buffer.concat(lines);
}

function lineOf(bytes: Buffer): Buffer {
  const words = Math.ceil(bytes.length / 4);
  const line = Buffer.alloc(1 + 5 * words + 1, '\n');
  line[0] = bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26;
  const padded = Buffer.alloc(4 * words);
  bytes.copy(padded);
  for (let word = 0; word < words; word += 1) {
    let rest = padded.readUInt32BE(4 * word);
    for (let digit = 5; digit >= 1; digit -= 1) {
      line[5 * word + digit] = alphabet[rest % 85] ?? 0;
      rest = Math.floor(rest / 85);
    }
  }
  return line;
}
