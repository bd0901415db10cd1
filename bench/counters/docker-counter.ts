/** Counts the calls to the engine, by method and kind of call. */
export function createDockerCounter() {
  const counts = new Map<string, number>();
  return {
    counts: (): Record<string, number> => Object.fromEntries(counts),
    onConnection: () => (chunk: Buffer) => {
      for (const [, method, path] of chunk.toString('latin1').matchAll(requestLine)) {
        const name = `${method} ${kindOf(path ?? '')}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    },
  };
}

const requestLine = /^(GET|POST|PUT|DELETE|HEAD) (\/\S*) HTTP\/1\.1\r$/gm;

/** The path without version, ids and query. */
function kindOf(path: string): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/^\/v[\d.]+/, '')
    .replace(/\/[0-9a-f]{64}/, '/…');
}
