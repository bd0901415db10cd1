/** The same bytes in pieces of exactly `bytes`, the last one aside. */
export async function* rechunk(
  chunks: AsyncIterable<Buffer>,
  bytes: number,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < bytes) continue;
    let rest = Buffer.concat(held, heldBytes);
    for (; rest.length >= bytes; rest = rest.subarray(bytes)) yield rest.subarray(0, bytes);
    held = [rest];
    heldBytes = rest.length;
  }
  if (heldBytes > 0) yield Buffer.concat(held, heldBytes);
}
