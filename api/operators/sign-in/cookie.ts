import { Buffer } from 'node:buffer';
import { limits } from '../../../core/limits.ts';
import { publicPath } from '../../http/public-path.ts';

const name = 'flowrun_operator';

/**
 * The session in a request's cookies, or null. Two different values mean that one was planted, so
 * neither is used.
 */
export function sessionIn(header: string | undefined, publicUrl: string): string | null {
  const cookieName = nameOf(publicUrl);
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [key, value] = pair.split('=', 2).map((part) => part.trim());
    return key === cookieName && value !== undefined ? [value] : [];
  });
  const [session] = values;
  return session !== undefined && values.every((other) => other === session) ? session : null;
}

/**
 * The name contains the path: several installations on one host need different cookies, because a
 * browser sends the cookie of `/` to all of them.
 */
function nameOf(publicUrl: string): string {
  const path = publicPath(publicUrl, '/');
  return path === '/' ? name : `${name}_${Buffer.from(path).toString('base64url')}`;
}

export function sessionCookie(session: string, publicUrl: string): string {
  return cookie(session, Math.floor(limits.operator.sessionMs / 1_000), publicUrl);
}

export const noSessionCookie = (publicUrl: string): string => cookie('', 0, publicUrl);

/**
 * Not readable by scripts, not sent from other sites, only sent over https, and limited to the path
 * of this installation.
 */
function cookie(value: string, maxAgeSeconds: number, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const path = publicPath(publicUrl, '/');
  return `${nameOf(publicUrl)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
