// breaks: nothing
import { Command } from 'commander';
import { readCliConfig } from '../config/cli-config.ts';
import { createPool } from '../systems/postgres/pool.ts';

export const needs = [Command, readCliConfig, createPool];
console.log(needs.length);
