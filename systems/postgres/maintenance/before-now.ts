/** SQL of the time that lies the parameter's milliseconds in the past. */
export const before = (parameter: string): string => `db_clock() - ${parameter} * interval '1 ms'`;
