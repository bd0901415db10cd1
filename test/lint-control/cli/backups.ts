// breaks: nothing
import { readCliConfig } from '../config/cli-config.ts';
import { createPool } from '../systems/postgres/pool.ts';
import { connectRedis } from '../systems/redis/connect.ts';

export const needs = [readCliConfig, createPool, connectRedis];
console.log(needs.length);
