/**
 * A path of this service as clients see it. `PUBLIC_URL` may have a path prefix, which the proxy in
 * front removes. So no route starts with the prefix, and every path in an answer does.
 */
export const publicPath = (publicUrl: string, path: string): string =>
  `${new URL(publicUrl).pathname.replace(/\/$/, '')}${path}`;
