/** Length of a well-formed text in UTF-8. Each half of a surrogate pair counts as two bytes. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) bytes += bytesOf(text.charCodeAt(at));
  return bytes;
}

function bytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  const isHalf = unit >= 0xd800 && unit <= 0xdfff;
  return unit < 0x800 || isHalf ? 2 : 3;
}
