/**
 * Lines for a script that uses `now`, in milliseconds. All processes share the clock of Redis, so
 * one whose own clock is ahead expires nothing of others.
 */
export const redisClock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * The first line of a script whose write must succeed although Redis has reached its memory limit.
 * Redis then refuses the first write of a script if it needs memory, and no write after another
 * one; PERSIST needs none. Only for keys that are small, few, and given an expiry by the script.
 */
export const writeAlsoWhenFull = `redis.call('PERSIST', KEYS[1])`;
