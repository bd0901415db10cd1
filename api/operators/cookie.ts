import { Buffer } from 'node:buffer';
import { limits } from '../../core/limits.ts';
import { publicPath } from '../http/public-path.ts';

const name = 'flowrun_operator';

/**
 * The session that a request's cookies name, or null: where two differ, somebody has put one beside
 * the other, and neither is taken.
 */
export function sessionIn(header: string | undefined, publicUrl: string): string | null {
  const wanted = nameOf(publicUrl);
  const given = (header ?? '').split(';').flatMap((pair) => {
    const [key, value] = pair.split('=', 2).map((part) => part.trim());
    return key === wanted && value !== undefined ? [value] : [];
  });
  const [session] = given;
  return session !== undefined && given.every((other) => other === session) ? session : null;
}

/**
 * One installation at `/` and others at paths of the same host each have a cookie of their own: a
 * browser sends the one of `/` to all of them.
 */
function nameOf(publicUrl: string): string {
  const path = publicPath(publicUrl, '/');
  return path === '/' ? name : `${name}_${Buffer.from(path).toString('base64url')}`;
}

export function sessionCookie(session: string, publicUrl: string): string {
  return cookie(session, Math.floor(limits.operatorSessionMs / 1_000), publicUrl);
}

export const noSessionCookie = (publicUrl: string): string => cookie('', 0, publicUrl);

/**
 * No script reads it, no other site's page sends it, https keeps it to itself, and what else there is
 * at the same host does not get it.
 */
function cookie(value: string, maxAgeSeconds: number, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const path = publicPath(publicUrl, '/');
  return `${nameOf(publicUrl)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
