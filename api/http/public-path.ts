/**
 * A path of this service as clients ask for it. `PUBLIC_URL` may have a path of its own: whoever stands in
 * front takes that away, so that no route begins with it and every address that is told does.
 */
export const publicPath = (publicUrl: string, path: string): string =>
  `${new URL(publicUrl).pathname.replace(/\/$/, '')}${path}`;
