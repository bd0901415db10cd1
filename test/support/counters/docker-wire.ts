import type { ConnectionObserver } from './tcp-tap.ts';

/**
 * Reads the requests of one HTTP connection to the engine. A body is skipped by its length, so that
 * its text is never taken for a request.
 */
export function observeDocker(onCall: (name: string) => void): ConnectionObserver {
  let rest: Buffer = Buffer.alloc(0);
  let bodyBytes = 0;

  /** False if the next request is incomplete. */
  function readOne(): boolean {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = rest.subarray(0, end).toString('latin1');
    const [, method = '', path = ''] = /^(\w+) (\S+) HTTP\/1\.1$/m.exec(head) ?? [];
    if (/^transfer-encoding:/im.test(head)) throw new Error(`not counted: ${method} ${path}`);
    bodyBytes = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    rest = rest.subarray(end + 4);
    onCall(`${method} ${kindOf(path)}`);
    return true;
  }

  function skipBody(): void {
    const skipped = Math.min(bodyBytes, rest.length);
    rest = rest.subarray(skipped);
    bodyBytes -= skipped;
  }

  return {
    sent(chunk) {
      rest = Buffer.concat([rest, chunk]);
      do skipBody();
      while (bodyBytes === 0 && readOne());
    },
  };
}

/** The path without version, ids and query. */
function kindOf(path: string): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/^\/v[\d.]+/, '')
    .replace(/^\/(containers)\/(?!create$|json$)[^/]+/, '/$1/…')
    .replace(/^\/(images)\/(?!json$).+(?=\/json$)/, '/$1/…');
}
